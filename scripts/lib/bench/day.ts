import type { Meter } from "./meter.ts";
import type { RawRedis } from "./redis.ts";
import type { SimTime } from "./sim-time.ts";

/** A day's load, the same for every way. Durations in milliseconds of simulated time. */
export interface DayLoad {
  pods: number;
  clusters: number;
  beatMs: number;
  taskMs: number;
  warmUpMs: number;
  measuredMs: number;
}

/** The load that is reported. */
export const FULL_DAY: DayLoad = {
  pods: 1_000,
  clusters: 4,
  beatMs: 10_000,
  taskMs: 60_000,
  warmUpMs: 180_000,
  measuredMs: 600_000,
};

/** What a way of spending the day has at hand. */
export interface DayGround {
  load: DayLoad;
  time: SimTime;
  redis: RawRedis;
  meter: Meter;
  /** How long the next task takes: exponential around the mean. */
  nextTaskMs(): number;
  tally: { requests: number; tasks: number; busyMs: number };
}

/** One way to run the fleet; it spawns its actors and is then left alone. */
export interface Way {
  name: string;
  start(ground: DayGround): Promise<void>;
}

/** The number of pod's cluster and its name there. */
export const podAt = ({ clusters }: DayLoad, number: number) => ({
  cluster: `c${number % clusters}`,
  pod: `worker-${number}`,
});

/** Numbers 0 … 1 from a seed (mulberry32), so that every way meets the same tasks. */
export function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
