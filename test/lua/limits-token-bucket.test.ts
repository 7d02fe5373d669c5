import { expect, test } from "vitest";
import { limitOf } from "../support/limit.ts";
import { World } from "../support/world.ts";

test("a new bucket is full, refuses when empty, and a refusal spends nothing and delays nothing", async () => {
  const world = new World();
  const limit = limitOf(world);
  const set = await limit.set({ capacity: 3, refill_per_s: 0.5 });
  expect(set.status).toBe(200);
  expect(set.body).toEqual({
    algorithm: "token_bucket",
    capacity: 3,
    refill_per_s: 0.5,
    on_error: "deny",
    shadow: false,
  });
  const first = await limit.take();
  expect(first.status).toBe(200);
  expect(first.body).toEqual({ allowed: true, remaining: 2, delay_ms: 0, rate_per_s: 0.5 });
  expect(await limit.drain()).toBe(2);
  for (let refusal = 0; refusal < 10; refusal++) {
    world.advance(150);
    const { body } = await limit.take();
    expect(body).toMatchObject({ allowed: false, retry_after_ms: 2_000 - 150 * (refusal + 1) });
  }
  world.advance(500);
  expect((await limit.take()).body).toMatchObject({ allowed: true, remaining: 0 });
});

test("a refusal leaves Redis as it was", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 1, refill_per_s: 0.001 });
  await limit.take();
  const before = await world.snapshot();
  world.advance(1_234);
  expect((await limit.take({ request_id: "r1" })).body.allowed).toBe(false);
  expect((await limit.take({ cost: 2 })).body.code).toBe("cost-exceeds-capacity");
  expect((await limit.peek()).body.allowed).toBe(false);
  expect(await world.snapshot()).toBe(before);
});

test("a bucket of one token with three a second grants one at once, not every take", async () => {
  const limit = limitOf(new World());
  await limit.set({ capacity: 1, refill_per_s: 3 });
  let granted = 0;
  for (let take = 0; take < 50; take++) if ((await limit.take()).body.allowed) granted += 1;
  expect(granted).toBe(1);
});

test("one token per 15 s: 16 s after draining exactly one is granted", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 3, refill_per_s: 1 / 15 });
  expect(await limit.drain()).toBe(3);
  world.advance(16_000);
  expect(await limit.drain()).toBe(1);
});

test("costs that are no whole number add up exactly", async () => {
  const limit = limitOf(new World());
  await limit.set({ capacity: 1, refill_per_s: 0.000_001 });
  for (const left of [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0]) {
    expect((await limit.take({ cost: 0.1 })).body.remaining).toBe(left);
  }
  expect((await limit.take({ cost: 0.000_001 })).body).toMatchObject({
    allowed: false,
    retry_after_ms: 1_000_000 - 999_000,
  });
});

test("each key has its own bucket, and any text is a key", async () => {
  const limit = limitOf(new World());
  await limit.set({ capacity: 1, refill_per_s: 0.001 });
  for (const key of ["a", "b", "{a}", "a/b", "emoji 🚀", "\u0000", "x".repeat(1_024)]) {
    expect((await limit.take({ key })).body.allowed).toBe(true);
    expect((await limit.take({ key })).body.allowed).toBe(false);
    if (key !== "\u0000") expect((await limit.peek(key)).body.remaining).toBe(0);
  }
  for (const key of ["", "x".repeat(1_025), "é".repeat(513)])
    expect((await limit.take({ key })).status).toBe(400);
});

test("every key of a limit but its configuration has a lifetime, as long as the bucket takes to fill and a minute more", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 0.1 });
  await limit.take({ request_id: "r1", cost: 10 });
  await world.settle();
  const names = await world.redis<string[]>("KEYS", `${world.prefix}:*`);
  const ttls = await Promise.all(
    names.map(async (name) => [name, await world.redis<number>("PTTL", name)] as const),
  );
  const of = (end: RegExp) => ttls.find(([name]) => end.test(name))?.[1] ?? 0;
  expect(of(/:configuration$/)).toBe(-1);
  expect(of(/:bucket$/)).toBeGreaterThan(155_000);
  expect(of(/:bucket$/)).toBeLessThanOrEqual(160_000);
  expect(of(/:request:r1$/)).toBeGreaterThan(86_395_000);
  expect(of(/:request:r1$/)).toBeLessThanOrEqual(86_400_000);
  expect(of(/:limits$/)).toBeGreaterThan(86_395_000);
  expect(names).toHaveLength(4);
});

test("no lifetime is above 60 days and a minute, however deep the debt", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 2_592_000, refill_per_s: 1 });
  await limit.take({ request_id: "r1", cost: 2_592_000 });
  await limit.settle({ request_id: "r1", actual: 1e9 });
  const refused = (await limit.take({ cost: 2_592_000 })).body;
  expect(refused).toMatchObject({ remaining: 0, retry_after_ms: 60 * 86_400_000 });
  for (const name of await world.redis<string[]>("KEYS", `${world.prefix}:*`)) {
    expect(await world.redis<number>("PTTL", name)).toBeLessThanOrEqual(60 * 86_400_000 + 60_000);
  }
});

test("a caller whose clock is behind neither empties the bucket nor stops its refill", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  expect(await limit.drain()).toBe(10);
  world.advance(-60_000);
  expect((await limit.take()).body).toMatchObject({ allowed: false, remaining: 0, retry_after_ms: 61_000 });
  world.advance(60_000 + 3_000);
  expect(await limit.drain()).toBe(3);
});

test("8 isolates together get the limit's grants, not 8 times", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 100, refill_per_s: 100 / 60 });
  const isolates = Array.from({ length: 8 }, () => limitOf(world.isolate()));
  const round = async () => {
    const takes = isolates.flatMap((one) => Array.from({ length: 20 }, () => one.take()));
    return (await Promise.all(takes)).filter(({ body }) => body.allowed).length;
  };
  expect(await round()).toBe(100);
  world.advance(30_000);
  expect(await round()).toBe(50);
});

test("the answer carries the standard headers, and Retry-After in whole seconds when refused", async () => {
  const limit = limitOf(new World());
  await limit.set({ capacity: 10, refill_per_s: 2 });
  const first = await limit.take({ cost: 3 });
  expect(first.headers.get("ratelimit-policy")).toBe('"gpu";q=10;w=5');
  expect(first.headers.get("ratelimit")).toBe('"gpu";r=7;t=2');
  expect(first.headers.get("retry-after")).toBeNull();
  const refused = await limit.take({ cost: 10 });
  expect(refused.body.retry_after_ms).toBe(1_500);
  expect(refused.headers.get("retry-after")).toBe("2");
});
