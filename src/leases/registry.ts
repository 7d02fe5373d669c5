import * as z from "zod/mini";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import * as scripts from "./scripts.ts";

/** The names of fleets, queues or limits, written in the background, so that lists and crons know whom to visit. */
export interface Registry {
  /**
   * Called after a write to `name`; at most hourly it registers the name and then does `keep`, in the background.
   * `records` are those that the write may have made: one that was not there before needs its keeping too.
   */
  noticed(name: string, ...records: string[]): void;
  /** Names heard of in the last 24 h. */
  names(): Promise<string[]>;
  /** As many of the names as one run of a cron can visit; where there are more, which ones is left to chance. */
  turn(limit: number): Promise<string[]>;
}

const HOUR_MS = 3_600_000;
const SILENCE_MS = 24 * HOUR_MS;

export function makeRegistry(
  { store, clock, defer }: Ground,
  key: string,
  keep: (name: string) => Promise<void> = async () => {},
): Registry {
  const due = new BoundedMap<string, number>(6_000);

  async function register(name: string): Promise<void> {
    const args = { now: await clock.now(), silence_ms: SILENCE_MS, name };
    await store.run(scripts.register, { keys: { names: key }, args });
    await keep(name);
  }

  async function names(): Promise<string[]> {
    const min = `(${(await clock.now()) - SILENCE_MS}`;
    return store.read({ members: key, min, max: "+inf" }, z.array(z.string()));
  }

  return {
    names,
    noticed(name, ...records) {
      const kept = [name, ...records.map((record) => `${name}/${record}`)];
      if (kept.every((one) => clock.local() < (due.get(one) ?? 0))) return;
      for (const one of kept) due.set(one, clock.local() + HOUR_MS);
      const again = () => {
        for (const one of kept) due.delete(one);
      };
      defer(register(name).catch(again));
    },
    async turn(limit) {
      const all = await names();
      const first = Math.floor(Math.random() * all.length);
      return [...all.slice(first), ...all.slice(0, first)].slice(0, limit);
    },
  };
}
