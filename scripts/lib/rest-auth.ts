import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Makes a check of `Authorization: Bearer <token>` or `?_token=`, whose time tells nothing about the token. */
export function createTokenCheck(
  token: string,
): (request: IncomingMessage, query: URLSearchParams) => boolean {
  const expected = digest(token);
  return (request, query) => {
    const header = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "");
    const given = header?.[1] ?? query.get("_token");
    return given !== null && timingSafeEqual(digest(given), expected);
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
