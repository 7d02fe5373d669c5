import { expect, test } from "vitest";
import { limitOf } from "../support/limit.ts";
import { World } from "../support/world.ts";

test("a repeated request_id spends once, also from another isolate and after the bucket ran empty", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 3, refill_per_s: 0.001 });
  expect((await limit.take({ request_id: "r1" })).body.remaining).toBe(2);
  expect((await limit.take({ request_id: "r1" })).body).toMatchObject({ allowed: true, remaining: 2 });
  await limit.drain();
  const elsewhere = limitOf(world.isolate());
  expect((await elsewhere.take({ request_id: "r1" })).body).toMatchObject({ allowed: true, remaining: 0 });
  expect((await elsewhere.take({ request_id: "r2" })).body.allowed).toBe(false);
});

test("a refusal does not end a request_id, and one id counts on each key for itself", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 1, refill_per_s: 1 });
  await limit.take({ request_id: "r1" });
  expect((await limit.take({ request_id: "r2" })).body.allowed).toBe(false);
  expect((await limit.take({ request_id: "r1", key: "other" })).body.remaining).toBe(0);
  world.advance(1_000);
  expect((await limit.take({ request_id: "r2" })).body).toMatchObject({ allowed: true, remaining: 0 });
});

test("50 parallel takes with one request_id spend one token", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 0.001 });
  const takes = Array.from({ length: 50 }, () => limit.take({ request_id: "same" }));
  for (const { body } of await Promise.all(takes)) expect(body.allowed).toBe(true);
  expect((await limit.peek()).body.remaining).toBe(9);
});

test("in a leaky bucket a repeat hears the same turn, as much nearer as time has passed", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ algorithm: "leaky_bucket", capacity: 5, leak_per_s: 1 });
  await limit.take();
  expect((await limit.take({ request_id: "r1" })).body.delay_ms).toBe(1_000);
  world.advance(400);
  expect((await limit.take({ request_id: "r1" })).body.delay_ms).toBe(600);
  world.advance(5_000);
  expect((await limit.take({ request_id: "r1" })).body.delay_ms).toBe(0);
});

test("settle gives back what was not used, once", async () => {
  const limit = limitOf(new World());
  await limit.set({ capacity: 100, refill_per_s: 0.001 });
  await limit.take({ request_id: "r1", cost: 60 });
  expect((await limit.settle({ request_id: "r1", actual: 20.5 })).body).toEqual({
    settled: true,
    remaining: 79.5,
  });
  expect((await limit.settle({ request_id: "r1", actual: 0 })).body).toEqual({
    settled: false,
    remaining: 79.5,
  });
  expect((await limit.take({ request_id: "r1", cost: 60 })).body.remaining).toBe(79.5);
});

test("settle charges what was used beyond the estimate, and the debt is at most the capacity", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 100, refill_per_s: 10 });
  await limit.take({ request_id: "r1", cost: 50 });
  await limit.take({ request_id: "r2", cost: 50 });
  expect((await limit.settle({ request_id: "r1", actual: 70 })).body).toEqual({
    settled: true,
    remaining: 0,
  });
  expect((await limit.take()).body).toMatchObject({ allowed: false, retry_after_ms: 2_100 });
  await limit.settle({ request_id: "r2", actual: 1_000_000 });
  const refused = await limit.take();
  expect(refused.body).toMatchObject({ allowed: false, remaining: 0, retry_after_ms: 10_100 });
  // A caller that goes by the other header is not sent back too early either.
  expect(refused.headers.get("retry-after")).toBe("11");
  expect(refused.headers.get("ratelimit")).toBe('"gpu";r=0;t=11');
});

test("nothing is given back beyond the capacity", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 10 });
  await limit.take({ request_id: "r1", cost: 10 });
  world.advance(900);
  expect((await limit.settle({ request_id: "r1", actual: 0 })).body.remaining).toBe(10);
  world.advance(60_000);
  expect(await limit.drain()).toBe(10);
});

test("settling what was never taken is 404 and changes nothing", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  await limit.take({ request_id: "r1" });
  const before = await world.snapshot();
  const unknown = await limit.settle({ request_id: "r2", actual: 1 });
  expect(unknown).toMatchObject({ status: 404, body: { code: "unknown-request" } });
  expect((await limit.settle({ request_id: "r1", actual: 1, key: "other" })).status).toBe(404);
  expect(await world.snapshot()).toBe(before);
});

test("in a leaky bucket only the last turn can be given back, so that turns never overlap", async () => {
  const limit = limitOf(new World());
  await limit.set({ algorithm: "leaky_bucket", capacity: 10, leak_per_s: 1 });
  await limit.take({ request_id: "first", cost: 2 });
  await limit.take({ request_id: "last", cost: 2 });
  expect((await limit.settle({ request_id: "first", actual: 0 })).body.remaining).toBe(6);
  expect((await limit.settle({ request_id: "last", actual: 1 })).body.remaining).toBe(7);
  expect((await limit.take()).body.delay_ms).toBe(3_000);
});

test("a shadow limit lets a cost above its capacity pass too, and spends nothing on it", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 2, refill_per_s: 1, shadow: true });
  await limit.take();
  const before = await world.snapshot();
  const passed = await limit.take({ cost: 5 });
  expect(passed.body).toMatchObject({ allowed: true, shadowed: true, remaining: 1, retry_after_ms: 1_000 });
  expect(await world.snapshot()).toBe(before);
  const both = await world.post("/v1/take", { takes: [{ limit: "gpu", cost: 5 }] });
  expect(both.body).toMatchObject({ allowed: true, takes: [{ remaining: 1 }] });
});

test("a shadow limit lets everything pass and says what it would have done", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 2, refill_per_s: 1, shadow: true });
  expect((await limit.take({ cost: 2 })).body).toEqual({
    allowed: true,
    remaining: 0,
    delay_ms: 0,
    rate_per_s: 1,
  });
  const passed = await limit.take({ request_id: "r1" });
  expect(passed.body).toMatchObject({ allowed: true, shadowed: true, retry_after_ms: 1_000, remaining: 0 });
  expect(passed.headers.get("retry-after")).toBeNull();
  expect((await limit.settle({ request_id: "r1", actual: 1 })).body.settled).toBe(false);
  // What it only watched was not spent.
  world.advance(1_000);
  expect((await limit.take()).body).toEqual({ allowed: true, remaining: 0, delay_ms: 0, rate_per_s: 1 });
  await limit.set({ algorithm: "leaky_bucket", capacity: 5, leak_per_s: 1, shadow: true });
  await limit.take({ key: "leaky" });
  const delayed = await limit.take({ key: "leaky" });
  expect(delayed.body).toMatchObject({ allowed: true, shadowed: true, delay_ms: 0, retry_after_ms: 1_000 });
  // A look tells the same as a take.
  const looked = await limit.peek("leaky");
  expect(looked.body).toMatchObject({ allowed: true, shadowed: true, delay_ms: 0, retry_after_ms: 2_000 });
});
