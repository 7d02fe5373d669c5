import type { Rates, StoredLimit, Version } from "../rates/rates.ts";
import { type Limit, setRate } from "../rates/schema.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import * as scripts from "./scripts.ts";

export interface ConfigureOptions extends Ground {
  rates: Rates;
}

/** Buckets follow this many changes step by step; one untouched for longer lives under its own until the oldest. */
const VERSIONS = 8;

/** Sets and removes limits; this isolate follows at once, others within 5 s. */
export function makeConfigure({ store, keys, clock, rates }: ConfigureOptions) {
  return {
    async set(name: string, limit: Limit): Promise<void> {
      const before = await rates.read(name).catch((error: unknown) => {
        // A record that cannot be read is mended by the one written over it.
        if (error instanceof StoreFault) return undefined;
        throw error;
      });
      rates.noticed(name);
      if (before && JSON.stringify(before.limit) === JSON.stringify(limit)) return;
      const former = before?.versions ?? [];
      // Never the same twice, since buckets tell configurations apart by it; scripts leave the fraction out of times.
      const latest = Math.max(former.at(-1)?.set_at ?? 0, before?.pace.set_at ?? 0);
      const set_at = Math.max(await clock.now(), latest + 0.001);
      const kind: Version["kind"] = limit.algorithm === "token_bucket" ? "t" : "l";
      const version = { kind, capacity: limit.capacity, rate: setRate(limit), set_at };
      const stored: StoredLimit = { limit, versions: [...former, version].slice(-VERSIONS) };
      // First, since a repeat finds nothing to do once the limit is set.
      if (limit.adapt || before?.limit.adapt) await note(name, limit.adapt !== undefined);
      await store.run(scripts.setLimit, { keys: keys.limit(name), args: { text: JSON.stringify(stored) } });
      rates.forget(name);
    },

    async remove(name: string): Promise<boolean> {
      await note(name, false);
      const removed = await store.run(scripts.remove, { keys: keys.limit(name), args: {} });
      rates.forget(name);
      return removed === 1;
    },
  };

  async function note(limit: string, adapts: boolean): Promise<void> {
    const args = { now: await clock.now(), limit, adapts: adapts ? 1 : 0 };
    await store.run(scripts.noteAdapting, { keys: { adapting: keys.adapting }, args });
  }
}
