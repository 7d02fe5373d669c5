import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startRedisRest } from "../redis-rest.ts";
import { holdFolder } from "./hold.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";

/** The store behind a Worker: given by the environment, or a private Redis and a front that stop() ends. */
export interface StackStore {
  url: string;
  token: string;
  redis: RedisServer | undefined;
  rest: { url: string; close(): Promise<void> } | undefined;
  stop(): Promise<void>;
}

/** What a private store needs: a folder of its own, and whether it keeps (or first drops) what is in it. */
export interface StackStoreOptions {
  dir: string;
  appendonly?: boolean;
  fresh?: boolean;
  onDeath?: (why: string) => void;
}

/** Gives the store named by UPSTASH_REDIS_REST_URL and _TOKEN; undefined when neither is set, throws when one is missing. */
export function storeFromEnv(env: Record<string, string | undefined>): StackStore | undefined {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env;
  if (!url && !token) return undefined;
  if (!url || !token)
    throw new Error("set both UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, or neither");
  return { url, token, redis: undefined, rest: undefined, stop: async () => {} };
}

/** Starts a private Redis with its data in `dir`, and the REST front before it; rejects with the reason of either. */
export async function startPrivateStore(options: StackStoreOptions): Promise<StackStore> {
  const dir = join(options.dir, "redis");
  mkdirSync(dir, { recursive: true });
  // Two Redis in one folder would write over each other's data, and a fresh one would remove the other's.
  const letGo = await holdFolder(options.dir);
  try {
    const store = await startHeld(dir, options);
    const stop = async () => {
      await store.stop();
      await letGo();
    };
    return { ...store, stop };
  } catch (error) {
    await letGo();
    throw error;
  }
}

async function startHeld(dir: string, options: StackStoreOptions): Promise<StackStore> {
  const { appendonly = false, fresh = false, onDeath } = options;
  if (fresh) rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const redis = await startRedisServer({ dir, appendonly, ...(onDeath && { onDeath }) });
  const token = randomBytes(24).toString("base64url");
  try {
    const rest = await startRedisRest({ redisUrl: redis.url, token });
    const stop = async () => {
      await rest.close();
      await redis.stop();
    };
    return { url: rest.url, token, redis, rest, stop };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}
