import { expect, test } from "vitest";
import { limitOf } from "../support/limit.ts";
import { rapid, rateOf } from "../support/rapid.ts";
import { World } from "../support/world.ts";

const leaky = { algorithm: "leaky_bucket", capacity: 5, leak_per_s: 2 };

test("each admitted take is told its turn, turns follow at the leak, and what does not fit is refused", async () => {
  const limit = limitOf(new World());
  await limit.set(leaky);
  const delays = [];
  for (let take = 0; take < 5; take++) delays.push((await limit.take()).body.delay_ms);
  expect(delays).toEqual([0, 500, 1_000, 1_500, 2_000]);
  expect((await limit.take()).body).toEqual({
    allowed: false,
    remaining: 0,
    delay_ms: 0,
    retry_after_ms: 500,
    rate_per_s: 2,
  });
});

test("a bucket that stood idle saves up no burst", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set(leaky);
  await limit.take();
  world.advance(3_600_000);
  expect((await limit.take()).body.delay_ms).toBe(0);
  expect((await limit.take()).body.delay_ms).toBe(500);
});

test("a dear take pushes the next turn back by as much as it costs", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set(leaky);
  expect((await limit.take({ cost: 3 })).body.delay_ms).toBe(0);
  world.advance(200);
  expect((await limit.take({ cost: 0.5 })).body.delay_ms).toBe(1_300);
  expect((await limit.take()).body.delay_ms).toBe(1_550);
});

test("over 20 minutes of polling the outflow is constant and turns never overlap", async () => {
  const version = { kind: "l", capacity: 4, rate: 3, set_at: 1_790_000_000_000 } as const;
  const { at, delays } = await rapid(new World(), rateOf(version), { every_ms: 40, for_ms: 1_200_000 });
  const turns = at.map((time, index) => time + (delays[index] ?? 0));
  expect(turns[0]).toBe(0);
  for (const [index, turn] of turns.entries())
    expect(turn).toBe(Math.max(0, Math.ceil((index * 1_000) / 3 - 1e-6)));
});

test("a change of capacity or leak keeps the turns that were promised", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set(leaky);
  for (let take = 0; take < 5; take++) await limit.take();
  world.advance(500);
  await limit.set({ ...leaky, capacity: 3, leak_per_s: 10 });
  // Four turns are still out, the last of them ending 2 s from now.
  expect((await limit.take()).body).toMatchObject({ allowed: false, remaining: 0 });
  world.advance(1_900);
  expect((await limit.take()).body).toMatchObject({ allowed: true, delay_ms: 100 });
  expect((await limit.take()).body).toMatchObject({ allowed: true, delay_ms: 200 });
});
