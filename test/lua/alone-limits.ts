import { expect, test } from "vitest";
import { filterOf, names } from "../support/filter.ts";
import { limitOf } from "../support/limit.ts";
import type { World } from "../support/world.ts";

/** What takes cost; part of `alone.test.ts`, which has the Redis that can be counted. */
export function limitBudgets(
  newWorld: () => World,
  billed: (world: World, work: () => Promise<unknown>) => Promise<number>,
): void {
  test.each([
    { algorithm: "token_bucket", capacity: 5, refill_per_s: 0.001 },
    { algorithm: "leaky_bucket", capacity: 5, leak_per_s: 0.001 },
  ])(
    "a take of a $algorithm costs 3 granted and 2 denied, with a request_id 4 and 2, a settle 4",
    async (rules) => {
      const world = newWorld();
      const limit = limitOf(world);
      await limit.set(rules);
      await limit.take({ request_id: "warm" });
      await limit.settle({ request_id: "warm", actual: 1 });
      await limit.peek();
      expect(await billed(world, () => limit.take())).toBe(3);
      expect(await billed(world, () => limit.take({ request_id: "r1" }))).toBe(4);
      expect(await billed(world, () => limit.take({ request_id: "r1" }))).toBe(2);
      expect(await billed(world, () => limit.settle({ request_id: "r1", actual: 0.5 }))).toBe(4);
      expect(await billed(world, () => limit.settle({ request_id: "r1", actual: 0.5 }))).toBe(2);
      await limit.drain();
      expect(await billed(world, () => limit.take())).toBe(2);
      expect(await billed(world, () => limit.take({ request_id: "r2" }))).toBe(2);
      expect(await billed(world, () => limit.peek())).toBe(2);
    },
  );
}

/** What a filter costs. */
export function filterBudgets(
  newWorld: () => World,
  billed: (world: World, work: () => Promise<unknown>) => Promise<number>,
): void {
  test("1,000 items of 7 bits are added and looked for in 4 and 3 calls of BITFIELD, besides the script and the version", async () => {
    const world = newWorld();
    const filter = filterOf(world);
    await filter.set({ capacity: 10_000 });
    await filter.add("warm");
    await filter.check("warm");
    const items = names("item", 1_000);
    expect(await billed(world, () => filter.add(...items))).toBe(2 + 4);
    expect(await billed(world, () => filter.check(...items))).toBe(2 + 3);
    expect(await billed(world, () => filter.check("item-1"))).toBe(3);
  });
}
