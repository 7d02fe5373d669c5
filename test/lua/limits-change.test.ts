import { expect, test } from "vitest";
import { limitOf } from "../support/limit.ts";
import { World } from "../support/world.ts";

test("a change applies from then on: the balance is the smaller of what there was and the new capacity", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  expect(await limit.drain()).toBe(10);
  world.advance(5_000);
  await limit.set({ capacity: 3, refill_per_s: 10 });
  expect((await limit.take()).body).toMatchObject({ allowed: true, remaining: 2, rate_per_s: 10 });
  expect(await limit.drain()).toBe(2);
  world.advance(100);
  expect((await limit.peek()).body.remaining).toBe(1);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  expect((await limit.peek()).body.remaining).toBe(1);
  world.advance(2_000);
  expect((await limit.peek()).body.remaining).toBe(3);
});

test("the time before the change counts at the old rate, the time after at the new, step by step", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 100, refill_per_s: 1 });
  await limit.take({ cost: 100 });
  world.advance(10_000);
  await limit.set({ capacity: 100, refill_per_s: 5 });
  world.advance(2_000);
  await limit.set({ capacity: 100, refill_per_s: 0.5 });
  world.advance(4_000);
  expect((await limit.peek()).body.remaining).toBe(10 + 10 + 2);
});

test("a larger capacity is no free refill, used before or not", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  await limit.take({ key: "used", cost: 4 });
  await limit.set({ capacity: 1_000, refill_per_s: 1 });
  expect((await limit.peek("used")).body.remaining).toBe(6);
  expect((await limit.peek("never used")).body.remaining).toBe(10);
  world.advance(60_000);
  expect((await limit.peek("never used")).body.remaining).toBe(70);
});

test("a slower rate gives no free refill to a bucket that is only refused", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 10 });
  await limit.drain();
  await limit.set({ capacity: 10, refill_per_s: 0.01 });
  expect((await limit.take()).body.retry_after_ms).toBe(100_000);
  const [bucket = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:bucket`);
  expect(await world.redis<number>("PTTL", bucket)).toBeGreaterThan(1_000_000);
});

test("two isolates that know different configurations do not fight: the newer one wins", async () => {
  const world = new World();
  const one = limitOf(world);
  const other = limitOf(world.isolate());
  await one.set({ capacity: 10, refill_per_s: 1 });
  expect((await other.take()).body.remaining).toBe(9);
  await one.set({ capacity: 4, refill_per_s: 0.5 });
  expect((await one.take()).body).toMatchObject({ remaining: 3, rate_per_s: 0.5 });
  // The other one still remembers the first configuration.
  expect((await other.take()).body).toMatchObject({ remaining: 2, rate_per_s: 0.5 });
  expect((await other.take({ cost: 8 })).body).toMatchObject({ allowed: false, remaining: 2 });
  world.advance(5_000);
  expect((await other.take({ cost: 8 })).body.code).toBe("cost-exceeds-capacity");
  expect((await one.take()).body.remaining).toBe(3);
});

test("the same configuration again changes nothing", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  await limit.take();
  const before = await world.snapshot();
  world.advance(500);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  expect(await world.snapshot()).toBe(before);
});

test("between token and leaky bucket the balance goes over, and a removed limit is gone", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  await limit.take({ cost: 4 });
  await limit.set({ algorithm: "leaky_bucket", capacity: 10, leak_per_s: 1 });
  expect((await limit.take()).body).toMatchObject({ allowed: true, remaining: 5, delay_ms: 4_000 });
  expect((await limit.remove()).body).toEqual({ deleted: true });
  expect((await limit.remove()).body).toEqual({ deleted: false });
  for (const gone of [
    limit.take(),
    limit.get(),
    limit.peek(),
    limit.settle({ request_id: "r", actual: 1 }),
  ]) {
    expect(await gone).toMatchObject({ status: 404, body: { code: "not-found" } });
  }
  world.advance(1_000);
  await limit.set({ algorithm: "leaky_bucket", capacity: 10, leak_per_s: 1 });
  expect((await limit.peek()).body.remaining).toBe(6);
});
