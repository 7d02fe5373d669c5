import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { connectRedis } from "./lib/rest-redis.ts";
import { createRestHandler } from "./lib/rest-server.ts";

const HELP = `redis-rest: the Upstash REST protocol before any Redis

  node_modules/.bin/node scripts/redis-rest.ts --redis-url redis://127.0.0.1:6379 --token TOKEN [--port 8079] [--host 127.0.0.1]

  --redis-url  redis:// or rediss:// (or REDIS_URL in the environment); Redis 7.0 or newer, or Valkey
  --token      the bearer token that callers must send (or UPSTASH_REDIS_REST_TOKEN)
  --port       port to listen on; 0 takes a free one (default 8079)
  --host       address to listen on (default 127.0.0.1)
`;

/** What startRedisRest needs: the Redis behind, the token callers send, and where to listen (port 0 is a free one). */
export interface RedisRestOptions {
  redisUrl: string;
  token: string;
  host?: string;
  port?: number;
  /** A call that Redis leaves unanswered for so long is answered with 503 (default 10,000). */
  answerTimeoutMs?: number;
}

/** Starts the front; rejects when Redis cannot be reached or the port is taken. close() lets running calls finish for up to 1 s. */
export async function startRedisRest(options: RedisRestOptions) {
  const { redisUrl, token, host = "127.0.0.1", port = 0, answerTimeoutMs = 10_000 } = options;
  if (token === "") throw new Error("the token is empty");
  const redis = await connectRedis(redisUrl, answerTimeoutMs);
  const server = createServer(createRestHandler(redis, token));
  // A client that reuses an idle connection just as it closes sees a failed call: so let the client close first.
  server.keepAliveTimeout = 120_000;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    redis.close();
    throw error;
  }
  const address = server.address();
  const boundPort = typeof address === "object" && address ? address.port : port;
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    const giveUp = setTimeout(() => server.closeAllConnections(), 1_000);
    await closed;
    clearTimeout(giveUp);
    redis.close();
  };
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`, close };
}

async function main() {
  const { values } = parseArgs({
    options: {
      "redis-url": { type: "string" },
      token: { type: "string" },
      host: { type: "string" },
      port: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const redisUrl = values["redis-url"] ?? process.env.REDIS_URL;
  const token = values.token ?? process.env.UPSTASH_REDIS_REST_TOKEN;
  const port = Number(values.port ?? 8079);
  if (!redisUrl) throw new Error("no Redis given: use --redis-url or REDIS_URL");
  if (!token) throw new Error("no token given: use --token or UPSTASH_REDIS_REST_TOKEN");
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port} is no port`);
  const { url, close } = await startRedisRest({
    redisUrl,
    token,
    port,
    ...(values.host && { host: values.host }),
  });
  console.log(`redis-rest ready url=${url}`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, async () => {
      await close();
      process.exit(0);
    });
  }
}

if (import.meta.main) {
  main().catch((error: Error) => {
    console.error(`redis-rest: ${error.message}`);
    process.exit(1);
  });
}
