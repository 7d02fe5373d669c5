import type { Store } from "../../../src/redis/store.ts";
import { type RawRedis, takeCommandCount } from "./redis.ts";

/** Counts what a day sends: all billed commands exactly, and what they were for from samples. */
export interface Meter {
  /** Counts from here on. */
  reset(): Promise<void>;
  /** A unit of work under a name that may depend on its result. */
  count<R>(nameOf: (result: R) => string, work: () => Promise<R>): Promise<R>;
  read(): Promise<{ commands: number; parts: { name: string; calls: number; commands: number }[] }>;
}

/** One call in so many is a sample; more of the first ones, since some kinds are rare in a short run. */
const EARLY = 10;
const LATER = 100;
const FIRST_CALLS = 5_000;

/** Makes a meter on the Redis that everything goes to. */
export function makeMeter(redis: RawRedis): Meter {
  let commands = 0;
  let calls = 0;
  let parts = new Map<string, { calls: number; samples: number; sampled: number }>();

  async function take(): Promise<number> {
    const { all } = await takeCommandCount(redis);
    commands += all;
    return all;
  }

  return {
    async reset() {
      await take();
      commands = 0;
      calls = 0;
      parts = new Map();
    },
    async count(nameOf, work) {
      const isSample = Math.random() < 1 / (calls++ < FIRST_CALLS ? EARLY : LATER);
      if (isSample) await take();
      const result = await work();
      const name = nameOf(result);
      const part = parts.get(name) ?? { calls: 0, samples: 0, sampled: 0 };
      part.calls++;
      if (isSample) {
        part.samples++;
        part.sampled += await take();
      }
      parts.set(name, part);
      return result;
    },
    async read() {
      await take();
      const list = [...parts].map(([name, { calls, samples, sampled }]) => ({
        name,
        calls,
        commands: samples === 0 ? 0 : (calls * sampled) / samples,
      }));
      return { commands, parts: list.sort((one, other) => other.commands - one.commands) };
    },
  };
}

/** A store whose runs are counted by script, and by outcome where the reply begins with one. */
export function meteredStore(store: Store, meter: Meter): Store {
  return {
    ...store,
    run: (script, call) =>
      meter.count(
        (reply) => {
          const outcome = Array.isArray(reply) && typeof reply[0] === "string" ? reply[0] : undefined;
          const known = outcome !== undefined && /^[a-z_]+$/.test(outcome);
          return known ? `${script.name}: ${outcome.replaceAll("_", " ")}` : script.name;
        },
        () => store.run(script, call),
      ),
    reads: (reads, reply) =>
      meter.count(
        () => "plain reads",
        () => store.reads(reads, reply),
      ),
  };
}
