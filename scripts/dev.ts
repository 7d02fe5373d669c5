import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Stack, startStack } from "./lib/stack.ts";

const HELP = `fleetgate dev: the coordinator on this machine, in workerd over a private Redis

  ./scripts/dev [--port 8787] [--fresh] [--data DIR]

  --port   port of the coordinator on 127.0.0.1 (default 8787)
  --fresh  forget what the last run with this port kept in Redis
  --data   folder for data, one subfolder a port (default .data)

With UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN in the environment it uses that store
and starts no Redis. Logs: worker.log and redis/redis.log in the data folder.
`;
const DATA = fileURLToPath(new URL("../.data", import.meta.url));
const CRON_MS = 60_000;

const giveUp = new AbortController();
let isEnding = false;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      fresh: { type: "boolean", default: false },
      data: { type: "string", default: DATA },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`--port ${values.port} is no port`);
  if (values.fresh && process.env.UPSTASH_REDIS_REST_URL)
    throw new Error(
      "--fresh forgets what a private Redis kept, and UPSTASH_REDIS_REST_URL names another store",
    );
  return { ...values, port };
}

async function main() {
  const { port, fresh, data, help } = readOptions();
  if (help) return void process.stdout.write(HELP);
  const starting = startStack({
    dir: join(data, String(port)),
    port,
    fresh,
    appendonly: true,
    env: process.env,
    signal: giveUp.signal,
    onDeath: (why) => end(starting, why),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end(starting));
  const stack = await starting;
  if (isEnding) return;
  // Both of Cloudflare's crons at once: what the handler does is idempotent, and its errors are in the Worker's log.
  setInterval(() => stack.worker.scheduled().catch(() => {}), CRON_MS);
  console.log(`fleetgate ready url=${stack.url} key=${stack.key}`);
  if (stack.redis) return;
  const { ok } = await fetch(`${stack.url}/readyz`);
  if (!ok)
    console.error("fleetgate dev: the store does not answer as it should; until it does, calls get 503");
}

/** Ends all that was started, then this process: 0 when somebody asked for it, 1 when a part died. */
async function end(starting: Promise<Stack>, why?: string) {
  if (isEnding) return;
  isEnding = true;
  if (why) console.error(`fleetgate dev: ${why}`);
  giveUp.abort();
  const stack = await starting.catch(() => undefined);
  await stack?.stop();
  process.exit(why ? 1 : 0);
}

main().catch((error: Error) => {
  if (isEnding) return;
  console.error(`fleetgate dev: ${error.message}`);
  process.exit(1);
});
