import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort, isBusy } from "../../scripts/lib/ports.ts";
import { findProgram } from "../../scripts/lib/programs.ts";
import { askRedis } from "../../scripts/lib/redis-inline.ts";
import { startRedisServer } from "../../scripts/lib/redis-server.ts";
import { isAlive } from "./dev-process.ts";

const base = mkdtempSync(join(tmpdir(), "fleetgate-redis-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const folder = () => mkdtempSync(join(base, "run-"));

test("a started Redis answers, and is gone after stop()", async () => {
  const redis = await startRedisServer({ dir: folder() });
  expect(await askRedis(redis.port, "PING")).toMatch(/^\+PONG/);
  await redis.stop();
  expect(isAlive(redis.pid)).toBe(false);
  expect(await isBusy(redis.port)).toBe(false);
});

test("what an append-only Redis was told stays through a stop and a start", async () => {
  const redis = await startRedisServer({ dir: folder(), appendonly: true });
  await askRedis(redis.port, "SET k kept");
  const { pid, port } = redis;
  await redis.restart();
  expect(redis.pid).not.toBe(pid);
  expect(await askRedis(port, "GET k")).toContain("kept");
  await redis.stop();
});

test("a cluster node owns all slots, also after a kill and a restart", async () => {
  const redis = await startRedisServer({ dir: folder(), cluster: true });
  expect(await askRedis(redis.port, "SET k v")).toMatch(/^\+OK/);
  await redis.kill();
  await redis.restart();
  expect(await askRedis(redis.port, "MGET {a}1 {b}1")).toMatch(/^-CROSSSLOT/);
  await redis.stop();
});

test("a death that nobody asked for is told, and one asked for is not", async () => {
  const onDeath = vi.fn();
  const redis = await startRedisServer({ dir: folder(), onDeath });
  await redis.kill();
  expect(onDeath).not.toHaveBeenCalled();
  await redis.restart();
  process.kill(redis.pid, "SIGKILL");
  await vi.waitFor(() =>
    expect(onDeath).toHaveBeenCalledExactlyOnceWith("Redis ended unexpectedly (SIGKILL)"),
  );
});

test("a port in use, a folder that is none and a missing program are named", async () => {
  const redis = await startRedisServer({ dir: folder() });
  await expect(startRedisServer({ dir: folder(), port: redis.port })).rejects.toThrow(
    `port ${redis.port} is in use`,
  );
  await redis.stop();
  await expect(startRedisServer({ dir: "/dev/null/x", port: await freePort() })).rejects.toThrow(
    "/dev/null/x",
  );
  vi.stubEnv("PATH", "/nowhere");
  await expect(startRedisServer({ dir: folder() })).rejects.toThrow(
    /redis-server or valkey-server is not installed/,
  );
  vi.unstubAllEnvs();
});

/** Puts a redis-server first on PATH that meets a taken port: in its first start, or in every one. */
function takePortFirst(port: number, when: "once" | "always"): string {
  const real = findProgram("redis-server", "valkey-server");
  const dir = folder();
  const skip = when === "once" ? `[ -e "$0.met" ] && exec "${real}" "$@"` : "";
  const text = `#!/bin/sh\n${skip}\necho >> "$0.met"\nexec "${real}" "$@" --port ${port}\n`;
  writeFileSync(join(dir, "redis-server"), text, { mode: 0o755 });
  vi.stubEnv("PATH", `${dir}:${process.env.PATH}`);
  return join(dir, "redis-server.met");
}

describe("a port that somebody takes before Redis does", () => {
  const other = createServer();
  let taken = 0;
  beforeAll(async () => {
    taken = await freePort();
    await new Promise<void>((resolve) => other.listen(taken, "127.0.0.1", resolve));
  });
  afterAll(() => other.close());
  afterEach(() => vi.unstubAllEnvs());

  test.each([false, true])("is given up for another (cluster: %s)", async (cluster) => {
    const met = takePortFirst(taken, "once");
    const redis = await startRedisServer({ dir: folder(), cluster });
    expect(existsSync(met)).toBe(true);
    expect(await askRedis(redis.port, "PING")).toMatch(/^\+PONG/);
    await redis.stop();
  });

  test("is an error when the caller named it, and in the end also when every port is taken", async () => {
    takePortFirst(taken, "always");
    const named = startRedisServer({ dir: folder(), port: await freePort() });
    await expect(named).rejects.toThrow("Address already in use");
    await expect(startRedisServer({ dir: folder() })).rejects.toThrow("Address already in use");
  });
});
