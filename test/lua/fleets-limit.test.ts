import { beforeEach, expect, inject, test } from "vitest";
import { fleetOf, lease, type TestFleet } from "../support/fleet.ts";
import { limitOf, type TestLimit } from "../support/limit.ts";
import { World } from "../support/world.ts";

let world: World;
let fleet: TestFleet;
let limit: TestLimit;

beforeEach(async () => {
  // A fleet and a limit have hash tags of their own, so they meet only where the store is one database.
  world = new World({ restUrl: inject("plainUrl") });
  fleet = fleetOf(world);
  limit = limitOf(world, "starts");
  await limit.set({ capacity: 2, refill_per_s: 0.5 });
  await fleet.policy({ limit: "starts" });
  await fleet.beatMany(10);
});

test("every acquire takes one, and a refusal takes no slot and says exactly when to come back", async () => {
  await lease(fleet);
  await lease(fleet);
  const refused = await fleet.acquire();
  expect(refused.body).toEqual({
    granted: false,
    reason: "rate_limited",
    retry_after_ms: 2_000,
    live: 10,
    busy: 2,
    capacity: 8,
  });
  expect(refused.headers.get("retry-after")).toBe("2");
  expect((await fleet.status()).busy).toBe(2);
  world.advance(1_999);
  expect((await fleet.acquire()).body).toMatchObject({ granted: false, retry_after_ms: 1 });
  world.advance(1);
  await lease(fleet);
  expect((await limit.peek("render")).body.remaining).toBe(0);
});

test("a repeated request spends nothing, also while the limit would refuse", async () => {
  const first = await lease(fleet, { request_id: "r1" });
  expect(await lease(fleet, { request_id: "r1" })).toBe(first);
  expect((await limit.peek("render")).body.remaining).toBe(1);
  await lease(fleet);
  expect(await lease(fleet, { request_id: "r1" })).toBe(first);
  await fleet.release(first);
  expect((await fleet.acquire({ request_id: "r1" })).body.code).toBe("request-ended");
});

test("a request refused by the rate is granted later under the same request_id", async () => {
  await lease(fleet);
  await lease(fleet);
  expect((await fleet.acquire({ request_id: "r1" })).body.reason).toBe("rate_limited");
  world.advance(2_000);
  await lease(fleet, { request_id: "r1" });
});

test("at capacity no token is spent", async () => {
  await limit.set({ capacity: 100, refill_per_s: 100 });
  world.advance(5_000);
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  const before = (await limit.peek("render")).body.remaining;
  expect((await fleet.acquire()).body.reason).toBe("at_capacity");
  expect((await limit.peek("render")).body.remaining).toBe(before);
});

test("a leaky bucket spaces the grants, and a shadow limit refuses nobody", async () => {
  await limit.set({ algorithm: "leaky_bucket", capacity: 5, leak_per_s: 1 });
  await lease(fleet);
  expect((await fleet.acquire()).body).toMatchObject({ reason: "rate_limited", retry_after_ms: 1_000 });
  world.advance(1_000);
  await lease(fleet);
  await limit.set({ algorithm: "leaky_bucket", capacity: 5, leak_per_s: 1, shadow: true });
  await lease(fleet);
  await lease(fleet);
  // Not even where it could never hold one.
  for (const rules of [{ refill_per_s: 1 }, { algorithm: "leaky_bucket", leak_per_s: 1 }]) {
    await limit.set({ capacity: 0.5, shadow: true, ...rules });
    await lease(fleet);
    await lease(fleet);
  }
});

test("waiting for a slot also waits for the rate", async () => {
  await lease(fleet);
  await lease(fleet);
  const before = world.now;
  expect((await fleet.acquire({ wait_ms: 10_000 })).body.granted).toBe(true);
  expect(world.now - before).toBeLessThan(4_000);
});

test("a policy that names a limit which is not there refuses every acquire by its name", async () => {
  await limit.remove();
  const answer = await fleet.acquire();
  expect(answer).toMatchObject({
    status: 404,
    body: { code: "not-found", detail: "there is no limit starts" },
  });
});

test("where the store keeps fleet and limit on different shards the call is refused with spans-shards", async () => {
  const apart = new World();
  await limitOf(apart, "starts").set({ capacity: 2, refill_per_s: 0.5 });
  const other = fleetOf(apart);
  await other.policy({ limit: "starts" });
  expect(await other.acquire()).toMatchObject({ status: 400, body: { code: "spans-shards" } });
  expect((await other.status()).busy).toBe(0);
});
