import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What to answer, or how not to: half an answer, none at all, or a closed connection. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Sent as it is instead of `body`. */
  text?: string;
  fault?: "cut" | "hang" | "reset";
}

/** One request as it arrived; `at` in milliseconds on the monotonic clock. */
export interface Seen {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every kind
  body: any;
  at: number;
  /** Whether the caller has hung up. */
  gone: () => boolean;
}

/** A real HTTP server on the loopback that can misbehave. */
export interface FaultyServer extends AsyncDisposable {
  url: string;
  seen: Seen[];
}

/** Starts a server that answers each request as `respond` says. */
export async function startFaultyServer(
  respond: (seen: Seen, number: number) => Reply | Promise<Reply>,
): Promise<FaultyServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const one = { ...(await read(request)), gone: () => response.destroyed };
    seen.push(one);
    send(response, await respond(one, seen.length - 1));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function read(request: IncomingMessage): Promise<Omit<Seen, "gone">> {
  const at = performance.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const { method = "", url: path = "", headers } = request;
  return { method, path, headers, body: text === "" ? undefined : JSON.parse(text), at };
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply.fault === "hang") return;
  if (reply.fault === "reset") {
    response.destroy();
    return;
  }
  const text = reply.text ?? (reply.body === undefined ? "" : JSON.stringify(reply.body));
  const length = String(Buffer.byteLength(text));
  response.writeHead(reply.status ?? 200, {
    "content-type": "application/json",
    "content-length": length,
    ...reply.headers,
  });
  if (reply.fault === "cut") response.write(text.slice(0, text.length / 2), () => response.destroy());
  else response.end(text);
}

/** The 503 of a coordinator whose store is away. */
export const unavailable = (retryAfterS?: number): Reply => ({
  status: 503,
  headers: {
    "content-type": "application/problem+json",
    ...(retryAfterS !== undefined && { "retry-after": String(retryAfterS) }),
  },
  body: {
    type: "about:blank",
    title: "The store cannot be reached",
    status: 503,
    detail: "The store did not answer in time.",
    code: "store-unavailable",
    trace_id: "trace-503",
  },
});
