import type { Ground } from "../redis/ground.ts";
import * as scripts from "./scripts.ts";

/** Counts kept in the isolate and written a minute later, so that counting costs the call that is counted nothing. */
export interface Tallies {
  /** Adds to a field of the totals under a Redis key. */
  add(key: string, field: string, by?: number): void;
  /** Writes what has waited for a minute, under whatever key, in the background. */
  settle(): void;
  /** What is not yet written. */
  waiting(key: string): ReadonlyMap<string, number>;
}

/** Totals outlive the longest history (30 days). They begin anew after it, unless samples are taken beside them. */
export const TOTALS_TTL_MS = 31 * 86_400_000;

const WAIT_MS = 60_000;
const MAX_KEYS = 2_000;
/** One trip to the store has room for so many. */
const MAX_WRITTEN = 50;
const NONE: ReadonlyMap<string, number> = new Map();

export function makeTallies({ store, clock, defer }: Omit<Ground, "keys">): Tallies {
  const tallies = new Map<string, { counts: Map<string, number>; since: number }>();

  function add(key: string, field: string, by = 1): void {
    let tally = tallies.get(key);
    if (!tally) {
      if (tallies.size >= MAX_KEYS) return;
      tally = { counts: new Map(), since: clock.local() };
      tallies.set(key, tally);
    }
    tally.counts.set(field, (tally.counts.get(field) ?? 0) + by);
  }

  async function write(due: readonly [key: string, counts: ReadonlyMap<string, number>][]): Promise<void> {
    const calls = due.map(([key, counts]) => {
      return { keys: { totals: key }, args: { key_ttl_ms: TOTALS_TTL_MS }, rest: [...counts].flat() };
    });
    const written: unknown[] = await store.runs(scripts.tally, calls).catch(() => []);
    for (const [at, [key, counts]] of due.entries()) {
      // Counted again later, even where only the answer was lost: a total may be over, never silently short.
      if (!written[at]) for (const [field, by] of counts) add(key, field, by);
    }
  }

  return {
    add,
    settle() {
      const due: [string, ReadonlyMap<string, number>][] = [];
      // The oldest stand first. A fleet that fell silent is written too: it has no later call of its own.
      for (const [key, { counts, since }] of tallies) {
        if (due.length === MAX_WRITTEN || clock.local() < since + WAIT_MS) break;
        tallies.delete(key);
        due.push([key, counts]);
      }
      if (due.length > 0) defer(write(due));
    },
    waiting: (key) => tallies.get(key)?.counts ?? NONE,
  };
}
