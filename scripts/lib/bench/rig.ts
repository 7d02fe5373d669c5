import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bundle, bundleWorker } from "../bundle.ts";
import { endWithParent } from "../guard.ts";
import { keyRecord, newKey } from "../keys.ts";
import { startRedisServer } from "../redis-server.ts";
import { startWorker } from "../worker.ts";
import { type HttpCaller, makeCaller } from "./http.ts";
import { connectRaw, type RawRedis } from "./redis.ts";

/** A Redis of its own to measure on, with a connection; `url` is redis://. */
export interface RedisRig {
  url: string;
  redis: RawRedis;
  stop(): Promise<void>;
}

/** All of Fleetgate, each part a process of its own: Redis, the REST front and the Worker in workerd. */
export interface WorkerRig extends RedisRig {
  rest: { url: string; token: string };
  bundle: Bundle;
  worker: HttpCaller;
}

/** How many calls are under way at once wherever speed is measured. */
export const AT_ONCE = 8;

/** Starts an empty Redis that writes nothing to disk. */
export async function startRedisRig(): Promise<RedisRig> {
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-bench-"));
  const server = await startRedisServer({ dir });
  const redis = await connectRaw(server.url);
  const stop = async () => {
    redis.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { url: server.url, redis, stop };
}

/** Starts Redis, the front and the Worker. The front is not in this process, which makes the load. */
export async function startWorkerRig(): Promise<WorkerRig> {
  const rig = await startRedisRig();
  const front = await startFront(rig.url);
  const bundle = await bundleWorker();
  const key = newKey();
  const worker = await startWorker({
    port: 0,
    bundle,
    bindings: {
      UPSTASH_REDIS_REST_URL: front.url,
      UPSTASH_REDIS_REST_TOKEN: front.token,
      FLEETGATE_KEYS: JSON.stringify([keyRecord(key, { id: "bench", scopes: ["admin"] })]),
      LOG_LEVEL: "error",
    },
  });
  const caller = makeCaller(worker.url, key, AT_ONCE);
  const stop = async () => {
    caller.close();
    await worker.stop();
    await front.stop();
    await rig.stop();
  };
  return { ...rig, rest: front, bundle, worker: caller, stop };
}

async function startFront(redisUrl: string) {
  const token = randomBytes(24).toString("base64url");
  const program = fileURLToPath(new URL("../../redis-rest.ts", import.meta.url));
  const child = spawn(process.execPath, [program, "--redis-url", redisUrl, "--port", "0"], {
    env: { ...process.env, UPSTASH_REDIS_REST_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const guard = endWithParent(child);
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  gone.then(() => guard?.kill("SIGKILL"));
  const url = await new Promise<string>((resolve, reject) => {
    gone.then(() => reject(new Error("the REST front did not start")));
    child.stdout.setEncoding("utf8").on("data", (said: string) => {
      const ready = /ready url=(\S+)/.exec(said)?.[1];
      if (ready) resolve(ready);
    });
  });
  const stop = async () => {
    child.kill("SIGTERM");
    await gone;
  };
  return { url, token, stop };
}
