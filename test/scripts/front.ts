import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { startRedisServer } from "../../scripts/lib/redis-server.ts";
import { startRedisRest } from "../../scripts/redis-rest.ts";

export const TOKEN = "token of the tests";

/** Starts a Redis and a front for one test file, and ends both after it. */
export async function startFront(options: { answerTimeoutMs?: number } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-front-"));
  const redis = await startRedisServer({ dir });
  const rest = await startRedisRest({ redisUrl: redis.url, token: TOKEN, ...options });
  afterAll(async () => {
    await rest.close();
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Sends one request with the token; gives status and parsed body. */
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${TOKEN}`, ...(init.headers as Record<string, string>) };
    const response = await fetch(rest.url + path, { ...init, headers });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text), text };
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), headers });
  /** Runs one command and gives its result; anything but 200 fails the test. */
  const run = async (...command: unknown[]) => {
    const { status, body } = await post("/", command);
    if (status !== 200) throw new Error(`${command[0]}: ${status} ${JSON.stringify(body)}`);
    return body.result;
  };
  return { redis, rest, call, post, run };
}

/** Waits until `check` holds, asking often; fails the test after `timeoutMs`. */
export async function until(check: () => Promise<boolean> | boolean, timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error("the condition did not come true in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
