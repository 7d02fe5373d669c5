/// <reference path="./provided.d.ts" />
import { randomBytes, randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startRedisServer } from "../../scripts/lib/redis-server.ts";
import { startRedisRest } from "../../scripts/redis-rest.ts";
import { startFaultProxy } from "./fault-proxy.ts";

/**
 * Starts before all tests, and ends afterwards, a private Redis with its REST front for everybody, a second pair
 * for the one file that counts commands and wipes the database, and a third that is no cluster.
 */
export default async function setup(project: TestProject) {
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-test-"));
  const redis = await startRedisServer({ dir, cluster: true });
  const restToken = randomBytes(16).toString("hex");
  const rest = await startRedisRest({ redisUrl: redis.url, token: restToken });
  project.provide("restUrl", rest.url);
  project.provide("restToken", restToken);
  project.provide("redisUrl", redis.url);
  const alone = await startRedisServer({ dir: join(dir, "alone"), cluster: true });
  const aloneRest = await startRedisRest({ redisUrl: alone.url, token: restToken });
  project.provide("aloneUrl", aloneRest.url);
  const plain = await startRedisServer({ dir: join(dir, "plain") });
  const plainRest = await startRedisRest({ redisUrl: plain.url, token: restToken });
  project.provide("plainUrl", plainRest.url);
  const faults = await startFaultProxy(rest.url);
  project.provide("faultUrl", faults.url);
  project.provide("seed", Number(process.env.FLEETGATE_SEED ?? randomInt(2 ** 31)));
  project.provide("adminKey", `fg_${randomBytes(32).toString("hex")}`);

  return async () => {
    await Promise.all([faults.close(), rest.close(), aloneRest.close(), plainRest.close()]);
    await Promise.all([redis.stop(), alone.stop(), plain.stop()]);
    rmSync(dir, { recursive: true, force: true });
  };
}
