import type { IncomingMessage } from "node:http";

/** Upstash's limit for one request, in bytes. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The body is over MAX_BODY_BYTES; answered with 413. */
export class TooLarge extends Error {}

/** Reads a request's body; throws TooLarge as soon as it is known to be over 10 MiB, without reading on. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > MAX_BODY_BYTES) return Promise.reject(new TooLarge("ERR the body is over 10 MB"));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        request.pause();
        reject(new TooLarge("ERR the body is over 10 MB"));
      } else chunks.push(chunk);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", reject);
  });
}
