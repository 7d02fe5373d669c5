import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "../../src/env.ts";
import { type Bundle, bundleWorker } from "./bundle.ts";
import { type KeyRecord, keyRecord, newKey } from "./keys.ts";
import { isBusy } from "./ports.ts";
import { type StackStore, startPrivateStore, storeFromEnv } from "./stack-store.ts";
import { type RunningWorker, startWorker } from "./worker.ts";

const HANDED_ON = ["FLEETGATE_PREFIX", "FLEETGATE_KEY_LOCKING", "FLEETGATE_ISSUERS", "LOG_LEVEL"] as const;

/** Where a stack keeps its files and listens (port 0 takes a free one), and how its Redis treats old data. */
export interface StackOptions {
  dir: string;
  port: number;
  /** Keep Redis's data under `dir` from one start to the next. */
  appendonly?: boolean;
  /** Drop what Redis kept in `dir` before; the key stays. */
  fresh?: boolean;
  /** UPSTASH_REDIS_REST_URL and _TOKEN in here replace the private Redis; HANDED_ON goes to the Worker. */
  env?: Record<string, string | undefined>;
  /** Keys that it knows beside its own. */
  keys?: readonly KeyRecord[];
  /** Gives up while starting; what runs already is ended with stop(). */
  signal?: AbortSignal;
  /** Called when a part ends although nobody here ended it. */
  onDeath?: (why: string) => void;
}

/** A whole running Fleetgate; `redis` and `rest` are undefined when the store was given by the environment. */
export interface Stack {
  url: string;
  /** A key with every scope, the same at each start in one folder. */
  key: string;
  redis: StackStore["redis"];
  rest: StackStore["rest"];
  worker: RunningWorker;
  stop(): Promise<void>;
}

/** Starts Redis, the REST front and the Worker; rejects with the first part's reason after ending what had started. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dir, port, env = {}, signal } = options;
  if (port !== 0 && (await isBusy(port))) throw new Error(`port ${port} is in use`);
  mkdirSync(dir, { recursive: true });
  const giveUp = new AbortController();
  // Bundling takes the longest, so it goes on while Redis starts.
  const bundling = bundleWorker(undefined, AbortSignal.any([giveUp.signal, ...(signal ? [signal] : [])]));
  bundling.catch(() => {}); // It may fail before anybody waits for it.
  try {
    const store = storeFromEnv(env) ?? (await startPrivateStore(options));
    return await startBefore(store, bundling, options);
  } catch (error) {
    giveUp.abort();
    await bundling.catch(() => {});
    throw error;
  }
}

async function startBefore(
  store: StackStore,
  bundling: Promise<Bundle>,
  options: StackOptions,
): Promise<Stack> {
  const { dir, port, onDeath } = options;
  try {
    const key = stableKey(join(dir, "key"));
    const settings = bindings(store, key, options);
    // The Worker would start with them, and answer every call with a 500.
    parseEnv(settings);
    const worker = await startWorker({
      port,
      bundle: await bundling,
      bindings: settings,
      logFile: join(dir, "worker.log"),
      ...(onDeath && { onDeath }),
    });
    const stop = async () => {
      await worker.stop();
      await store.stop();
    };
    return { url: worker.url, key, redis: store.redis, rest: store.rest, worker, stop };
  } catch (error) {
    await store.stop();
    throw error;
  }
}

function stableKey(file: string): string {
  if (!existsSync(file)) writeFileSync(file, `${newKey()}\n`, { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}

function bindings(
  store: StackStore,
  key: string,
  { env = {}, keys = [] }: StackOptions,
): Record<string, string> {
  const handedOn = HANDED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  return {
    UPSTASH_REDIS_REST_URL: store.url,
    UPSTASH_REDIS_REST_TOKEN: store.token,
    FLEETGATE_KEYS: JSON.stringify([keyRecord(key, { id: "dev", scopes: ["admin"] }), ...keys]),
    ...Object.fromEntries(handedOn),
  };
}
