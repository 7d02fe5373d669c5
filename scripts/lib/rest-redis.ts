import { createClient, ErrorReply, RESP_TYPES } from "@redis/client";
import type { Command, Reply } from "./rest-protocol.ts";

const CONNECT_TIMEOUT_MS = 2_000;
/** The oldest major version that the scripts are tried with. */
const OLDEST = 7;

/** Redis cannot be reached, or did not answer in time; answered with 503. */
export class RedisDown extends Error {}

/** The one Redis connection under the front; it reconnects by itself and never queues while it is down. */
export interface RedisConnection {
  /** Runs commands in order, not atomically; errors of Redis are replies. Rejects with RedisDown. */
  run(commands: Command[]): Promise<Reply[]>;
  /** Runs commands between MULTI and EXEC; a discarded transaction is one error. Rejects with RedisDown. */
  transaction(commands: Command[]): Promise<Reply[] | ErrorReply>;
  /** Closes the connection; what is in flight rejects. */
  close(): void;
}

/**
 * Connects to `redis://` or `rediss://`; rejects when the first connection fails or its Redis is too old, naming the host
 * but no password.
 */
export async function connectRedis(url: string, answerTimeoutMs: number): Promise<RedisConnection> {
  if (!/^rediss?:\/\/./.test(url) || !URL.canParse(url))
    throw new Error("the Redis URL is not redis:// or rediss://");
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String } },
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (retries) => connected && Math.min(25 * 2 ** retries, 500),
    },
  });
  let connected = false;
  // Without a listener a lost connection would end the process; commands learn of it by their rejection.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (cause) {
    throw new Error(`cannot reach Redis at ${new URL(url).host}: ${reason(cause)}`, { cause });
  }
  // Where INFO is not allowed nothing is known, and nothing refused.
  const info = String(await client.sendCommand(["INFO", "server"]).catch(() => ""));
  const [, version, major] = /^redis_version:((\d+)\S*)/m.exec(info) ?? [];
  if (major && Number(major) < OLDEST) {
    client.destroy();
    throw new Error(
      `Redis at ${new URL(url).host} is version ${version}, but ${OLDEST}.0 or newer is needed`,
    );
  }
  connected = true;

  const send = (commands: Command[]): Promise<Reply[]> => {
    if (!client.isReady) throw new RedisDown("ERR the connection to Redis is down");
    // One chain is written in one go, so no other request's command can come between MULTI and EXEC.
    const chainId = Symbol("chain");
    return Promise.all(commands.map((args) => client.sendCommand<Reply>(args, { chainId }).catch(asReply)));
  };

  return {
    run: async (commands) => withDeadline(answerTimeoutMs, send(commands)),
    async transaction(commands) {
      const replies = await withDeadline(answerTimeoutMs, send([["MULTI"], ...commands, ["EXEC"]]));
      const outcome = replies.at(-1);
      if (Array.isArray(outcome)) return outcome;
      const refused = replies.slice(1, -1).find((reply) => reply instanceof ErrorReply);
      return new ErrorReply(`EXECABORT Transaction discarded: ${refused?.message ?? "no reason given"}`);
    },
    close: () => client.destroy(),
  };
}

function asReply(error: unknown): ErrorReply {
  if (error instanceof ErrorReply) return error;
  throw new RedisDown(`ERR the connection to Redis was lost: ${reason(error)}`, { cause: error });
}

function reason(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return message || code || "unknown reason";
}

/** A stopped Redis keeps its connection open and answers nothing: the caller must still hear something. */
async function withDeadline<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RedisDown(`ERR Redis did not answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
