import type * as z from "zod/mini";
import type { Ground } from "../redis/ground.ts";
import { makeConfigurations } from "./configurations.ts";
import { type Generation, resized, rotated, shardsOf } from "./generations.ts";
import { probe } from "./probe.ts";
import type { AddAnswer, CheckAnswer, Filter, GuardAnswer, guardBody } from "./schema.ts";
import * as scripts from "./scripts.ts";

export interface FiltersOptions extends Ground {
  /** Takes from a limit, in milliseconds; limits are another room. */
  take(
    limit: string,
    key: string,
    cost: number,
  ): Promise<{ allowed: boolean; delay_ms: number; wait_ms: number }>;
}

export type Filters = ReturnType<typeof makeFilters>;

/** Bloom filters: what was added is always found, what was not is found as seldom as was asked for. */
export function makeFilters({ take, ...ground }: FiltersOptions) {
  const { store, keys } = ground;
  const configurations = makeConfigurations(ground);

  async function check(filter: string, items: readonly string[]): Promise<boolean[]> {
    const at = keys.filter(filter);
    return configurations.using(filter, async ({ version, generations }) => {
      const [current, present] = await store.run(scripts.check, {
        keys: at,
        restKeys: shardsOf(at, generations),
        args: { version, item_count: items.length },
        rest: await probesOf(items, generations),
      });
      return current ? present.map((flag) => flag === 1) : "stale";
    });
  }

  return {
    /** Sets the size of a filter; where it changes, a new generation starts and the older ones still answer. */
    async set(name: string, filter: Filter): Promise<Filter> {
      await configurations.change(name, (before) => {
        const { capacity, error_rate } = before?.filter ?? {};
        const same = capacity === filter.capacity && error_rate === filter.error_rate;
        return same ? undefined : resized(before, filter);
      });
      return filter;
    },

    get: async (name: string): Promise<Filter> => (await configurations.read(name)).filter,

    async remove(name: string): Promise<{ deleted: boolean }> {
      let deleted = false;
      await configurations.change(name, (before) => {
        deleted = before !== undefined;
        return deleted ? null : undefined;
      });
      return { deleted };
    },

    /** Starts a new generation; what was started before the last rotation answers no more. Throws `not-found`. */
    async rotate(name: string): Promise<{ rotated: true }> {
      await configurations.read(name);
      await configurations.change(name, (before) => before && rotated(before));
      return { rotated: true };
    },

    async add(name: string, items: readonly string[]): Promise<AddAnswer> {
      const at = keys.filter(name);
      return configurations.using(name, async ({ version, generations: [newest] }) => {
        const generations = newest ? [newest] : [];
        const added = await store.run(scripts.add, {
          keys: at,
          restKeys: shardsOf(at, generations),
          args: { version },
          rest: await probesOf(items, generations),
        });
        return added < 0 ? "stale" : { added };
      });
    },

    check: async (name: string, items: readonly string[]): Promise<CheckAnswer> => ({
      present: await check(name, items),
    }),

    /** Lets an item that was never added cost nothing but the look; any other spends from a limit. */
    async guard(name: string, { item, limit, key, cost }: z.output<typeof guardBody>): Promise<GuardAnswer> {
      const [present] = await check(name, [item]);
      if (!present) return { verdict: "absent" };
      const { allowed, delay_ms, wait_ms } = await take(limit, key, cost);
      if (!allowed) return { verdict: "limited", retry_after_ms: wait_ms };
      return { verdict: "pass", ...(delay_ms > 0 ? { delay_ms } : {}) };
    },
  };
}

/** Probes as the scripts take them: all items in the first generation, then all in the next; KEYS in that order too. */
async function probesOf(items: readonly string[], generations: readonly Generation[]): Promise<number[]> {
  const list: number[] = [];
  // The first key is the configuration.
  let before = 2;
  for (const generation of generations) {
    const probes = await Promise.all(items.map((item) => probe(item, generation)));
    for (const { shard, offsets } of probes) list.push(before + shard, offsets.length, ...offsets);
    before += generation.shards;
  }
  return list;
}
