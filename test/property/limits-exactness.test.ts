import fc from "fast-check";
import { expect, test } from "vitest";
import type { Version } from "../../src/rates/rates.ts";
import { limitOf } from "../support/limit.ts";
import { rapid, rateOf } from "../support/rapid.ts";
import { World } from "../support/world.ts";

const START = 1_790_000_000_000;
const tokens = (capacity: number, rate: number): Version => ({ kind: "t", capacity, rate, set_at: START });

test.each([
  ["3 tokens per 10 s", 0.3, 3],
  ["0.111 a second", 0.111, 2],
  ["1 per 15 s", 1 / 15, 1],
  ["1 per 7 s", 1 / 7, 5],
  ["13 a second", 13, 10],
])(
  "%s, polled 20 times a second for 20 minutes: grants within one of the ideal line",
  async (_, rate, capacity) => {
    const poll = { every_ms: 50, for_ms: 1_200_000 };
    const { at } = await rapid(new World(), rateOf(tokens(capacity, rate)), poll);
    for (const [index, time] of at.entries()) {
      const ideal = capacity + (rate * time) / 1_000;
      expect(index + 1).toBeLessThanOrEqual(ideal + 1e-6);
      // After the burst a grant waits for the next poll, so the line may be ahead by one and by what 50 ms earn.
      if (index < 3 * capacity) continue;
      expect(index + 1).toBeGreaterThan(ideal - 1 - rate * 0.05 - 1e-6);
    }
  },
);

test("saturated for 10 minutes no second has more than capacity and rate, and the rate does not drift", async () => {
  const world = new World();
  const rate = rateOf(tokens(10, 10));
  const minutes: number[][] = [];
  for (let minute = 0; minute < 10; minute++) {
    const { at } = await rapid(world, rate, { every_ms: 10, from: START + minute * 60_000, for_ms: 60_000 });
    minutes.push(at.map((time) => time + minute * 60_000));
  }
  const times = minutes.flat();
  for (const [index, time] of times.entries()) {
    const within = times.slice(index, index + 30).filter((other) => other < time + 1_000).length;
    expect(within).toBeLessThanOrEqual(20);
  }
  expect(minutes[0]).toHaveLength(609);
  for (const minute of minutes.slice(1)) expect(minute).toHaveLength(600);
});

test("a day saturated at a rate that divides badly ends on the ideal line", async () => {
  const rate = 0.111;
  const poll = { every_ms: 1_000, for_ms: 86_400_000 };
  const { at } = await rapid(new World(), rateOf(tokens(5, rate)), poll);
  expect(Math.abs(at.length - (5 + rate * 86_400))).toBeLessThanOrEqual(1);
});

test("the fastest and the slowest limits keep the line too", async () => {
  const poll = { every_ms: 100, for_ms: 300_000 };
  const fast = await rapid(new World(), rateOf(tokens(1e9, 1e9)), { ...poll, cost: 1e9 });
  expect(fast.at).toHaveLength(300);
  const slow = await rapid(new World(), rateOf(tokens(1e-6, 1e-6)), { ...poll, cost: 1e-6 });
  expect(slow.at).toHaveLength(300);
});

test("waiting exactly retry_after_ms succeeds, and 0.8 of it does not", async () => {
  const amount = fc.oneof(
    fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
    fc.double({ min: 0.01, max: 1_000, noNaN: true }),
    fc.constantFrom(0.1, 0.3, 0.111, 1 / 15, 1 / 3, 1, 3, 7, 10, 1e-6, 1e9),
  );
  const share = fc.double({ min: 0.001, max: 1, noNaN: true });
  const kinds = fc.constantFrom("token_bucket", "leaky_bucket");
  const world = new World();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(amount, amount, share, share, kinds, fc.nat(5_000), async (...given) => {
      const [capacity, rate, first, second, algorithm, pause] = given;
      fc.pre(capacity / rate <= 30 * 86_400);
      const limit = limitOf(world, `run-${++runs}`);
      const field = algorithm === "token_bucket" ? "refill_per_s" : "leak_per_s";
      expect((await limit.set({ algorithm, capacity, [field]: rate })).status).toBe(200);
      await limit.take({ cost: Math.max(1e-6, capacity * first) });
      world.advance(pause);
      const cost = Math.max(1e-6, capacity * second);
      const refused = (await limit.take({ cost })).body;
      if (refused.allowed) return;
      const wait = refused.retry_after_ms;
      expect(Number.isSafeInteger(wait) && wait >= 1).toBe(true);
      expect(refused.remaining).toBeGreaterThanOrEqual(0);
      const early = wait > 500 ? Math.floor(0.8 * wait) : 0;
      if (early > 0) {
        world.advance(early);
        expect((await limit.take({ cost })).body.allowed).toBe(false);
      }
      world.advance(wait - early);
      expect((await limit.take({ cost })).body.allowed).toBe(true);
    }),
    { numRuns: 150 },
  );
});
