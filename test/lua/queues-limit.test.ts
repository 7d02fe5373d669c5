import { beforeEach, expect, inject, test } from "vitest";
import { fleetOf, type TestFleet } from "../support/fleet.ts";
import { limitOf, type TestLimit } from "../support/limit.ts";
import { claimOne, queueOf, type TestQueue } from "../support/queue.ts";
import { World } from "../support/world.ts";

let world: World;
let fleet: TestFleet;
let queue: TestQueue;
let limit: TestLimit;

beforeEach(async () => {
  // A queue and a limit have hash tags of their own, so they meet only where the store is one database.
  world = new World({ restUrl: inject("plainUrl") });
  fleet = fleetOf(world);
  queue = queueOf(world);
  limit = limitOf(world, "starts");
  await limit.set({ capacity: 2, refill_per_s: 0.5 });
  await queue.configure({ limit: "starts" });
  await fleet.beatMany(10);
  await queue.batch(Array.from({ length: 5 }, (_, at) => ({ id: `t${at}`, payload: at })));
});

test("every claimed task takes one, and a refusal takes no slot and counts no delivery", async () => {
  await claimOne(queue);
  await claimOne(queue);
  const refused = (await queue.claim()).body;
  expect(refused).toEqual({ tasks: [], reason: "rate_limited", retry_after_ms: 2_000 });
  expect((await fleet.status()).busy).toBe(2);
  expect(await queue.status()).toMatchObject({ ready: 3, in_flight: 2 });
  world.advance(1_999);
  expect((await queue.claim()).body).toMatchObject({ reason: "rate_limited", retry_after_ms: 1 });
  world.advance(1);
  expect(await claimOne(queue)).toMatchObject({ id: "t2", delivery: 1 });
});

test("a claim of several gets as many as the limit lets pass", async () => {
  expect((await queue.claim({ max: 5 })).body.tasks).toHaveLength(2);
  expect((await limit.peek("infer")).body.remaining).toBe(0);
  world.advance(4_000);
  expect((await queue.claim({ max: 5 })).body.tasks).toHaveLength(2);
});

test("a repeated claim spends nothing, and neither does an empty one", async () => {
  const first = (await queue.claim({ request_id: "r1", max: 2 })).body;
  expect((await queue.claim({ request_id: "r1", max: 2 })).body.tasks).toEqual(first.tasks);
  expect((await limit.peek("infer")).body.remaining).toBe(0);
  world.advance(4_000);
  await queue.purge("ready");
  expect((await queue.claim()).body.reason).toBe("empty");
  expect((await limit.peek("infer")).body.remaining).toBe(2);
});

test("at capacity no token is spent", async () => {
  await limit.set({ capacity: 100, refill_per_s: 100 });
  world.advance(5_000);
  const small = queueOf(world, "small", "small");
  await small.configure({ limit: "starts" });
  await small.batch([{ payload: 1 }, { payload: 2 }]);
  expect((await small.claim({ max: 2 })).body.tasks).toHaveLength(1);
  const before = (await limit.peek("small")).body.remaining;
  expect((await small.claim({ request_id: "asks" })).body.reason).toBe("at_capacity");
  expect((await limit.peek("small")).body.remaining).toBe(before);
});

test("a leaky bucket spaces claims, and a shadow limit refuses none", async () => {
  await limit.set({ algorithm: "leaky_bucket", capacity: 5, leak_per_s: 1 });
  expect((await queue.claim({ max: 5 })).body.tasks).toHaveLength(1);
  expect((await queue.claim()).body).toMatchObject({ reason: "rate_limited", retry_after_ms: 1_000 });
  await limit.set({ algorithm: "leaky_bucket", capacity: 5, leak_per_s: 1, shadow: true });
  expect((await queue.claim({ max: 5 })).body.tasks).toHaveLength(4);
});

test("where the store keeps queue and limit on different shards the claim is refused with spans-shards", async () => {
  const apart = new World();
  await limitOf(apart, "starts").set({ capacity: 2, refill_per_s: 0.5 });
  const other = queueOf(apart);
  await other.configure({ limit: "starts" });
  await other.enqueue();
  expect(await other.claim()).toMatchObject({ status: 400, body: { code: "spans-shards" } });
  expect(await other.status()).toMatchObject({ ready: 1, in_flight: 0 });
});
