import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { freePort, isBusy } from "../../scripts/lib/ports.ts";
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
