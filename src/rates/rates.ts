import * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { makeRegistry, type Registry } from "../leases/registry.ts";
import { keyHash } from "../redis/digest.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import { type Readable, readEach } from "../redis/readable.ts";
import { toMicro, toMicroRate } from "./micro.ts";
import { type Pace, parsePace } from "./pace.ts";
import { limitBody } from "./schema.ts";
import * as scripts from "./scripts.ts";

/** One configuration of a limit and since when it stands, in epoch ms of Redis. */
const version = z.object({
  kind: z.enum(["t", "l"]),
  capacity: z.number(),
  rate: z.number(),
  set_at: z.number(),
});
export type Version = z.output<typeof version>;

/** What is stored of a limit: `versions` are its last configurations, oldest first, the present one included. */
export const storedLimit = z.object({ limit: limitBody, versions: z.array(version).check(z.minLength(1)) });
export type StoredLimit = z.output<typeof storedLimit>;

/** What an isolate keeps of a limit: its configuration, and the rate it has come to if it adapts. */
export interface Rate extends StoredLimit {
  name: string;
  pace: Pace;
}

/** The limit that a step of another room also takes one of: its bucket's key, if any, and its text (rates/gate.lua). */
export interface Gate {
  restKeys: string[];
  limit: string;
  /** To be told how many the step took, 0 where it was refused. */
  spent(count: number): void;
}

export interface Rates extends Pick<Registry, "noticed" | "names"> {
  /** A limit, at most 5 s old. Throws `not-found` where there is none. */
  of(limit: string): Promise<Rate>;
  /** The gate that a configuration names, for a key of it. Throws `not-found`, `cost-exceeds-capacity`. */
  gate(limit: string | undefined, key: string): Promise<Gate>;
  /** As `of`, asked afresh; undefined where there is none. */
  read(limit: string): Promise<Rate | undefined>;
  /** Of many limits in one trip, asked afresh; a limit that is not there is left out. */
  several(limits: readonly string[]): Promise<Readable<Rate>>;
  /** What this isolate last knew, however old, without asking. */
  remembered(limit: string): Rate | undefined;
  forget(limit: string): void;
  /** Who wants to hear what gates let pass: limits that adapt go by it. */
  onSpent(listener: (rate: Rate, count: number) => void): void;
  /** Keeps a rate this isolate has just adapted. */
  learn(limit: string, pace: Pace): void;
}

const MEMORY_MS = 5_000;

/** Reads and remembers limits for every room that takes from one. */
export function makeRates(ground: Ground): Rates {
  const { store, keys, clock } = ground;
  const { noticed, names } = makeRegistry(ground, keys.limits);
  const memory = new BoundedMap<string, { rate: Rate; until: number }>(2_000);
  let heard: (rate: Rate, count: number) => void = () => {};

  async function read(limit: string): Promise<Rate | undefined> {
    const asked = clock.local();
    const [text, pace] = await store.run(scripts.configuration, { keys: keys.limit(limit), args: {} });
    const rate = text === "" ? undefined : { name: limit, ...parseStored(text), pace: parsePace(pace) };
    if (rate) memory.set(limit, { rate, until: asked + MEMORY_MS });
    else memory.delete(limit);
    return rate;
  }

  async function of(limit: string): Promise<Rate> {
    const known = memory.get(limit);
    const rate = known && clock.local() < known.until ? known.rate : await read(limit);
    if (!rate) throw new Problem("not-found", `there is no limit ${limit}`);
    return rate;
  }

  return {
    of,
    read,
    noticed,
    names,
    async several(limits) {
      const reads = limits.map(keys.limit).flatMap(({ configuration, pace }) => [configuration, pace]);
      const texts = await store.reads(
        reads.map((get) => ({ get })),
        z.nullable(z.string()),
      );
      return readEach(limits, (name, at) => {
        const [text, pace] = texts.slice(at * 2, at * 2 + 2);
        if (pace === undefined)
          throw new StoreFault("the pace of the limit is a record of another type; PUT the limit again");
        return text === null ? undefined : { name, ...parseStored(text ?? ""), pace: parsePace(pace ?? "") };
      });
    },
    remembered: (limit) => memory.get(limit)?.rate,
    forget: (limit) => memory.delete(limit),
    onSpent(listener) {
      heard = listener;
    },
    async gate(limit, key) {
      if (limit === undefined) return { restKeys: [], limit: "", spent() {} };
      const rate = await of(limit);
      refuseTooDear(rate, 1, "limit");
      noticed(limit);
      return {
        restKeys: [keys.bucket(limit, await keyHash(key)).bucket],
        limit: limitText(rate, 1),
        spent: (count) => heard(rate, count),
      };
    },
    learn(limit, pace) {
      const known = memory.get(limit);
      if (known) memory.set(limit, { ...known, rate: { ...known.rate, pace } });
    },
  };
}

/** The rate in force, per second. */
export const ratePerS = (rate: Rate): number => inForce(rate).rate;

/** A limit and a cost as the scripts take them (rates/limit.lua). */
export function limitText(rate: Rate, cost: number): string {
  const versions = [...rate.versions.slice(0, -1), inForce(rate)];
  const last = rate.versions.at(-1);
  if (last && inForce(rate).set_at > last.set_at) versions.splice(-1, 0, last);
  const texts = versions.map(
    ({ kind, capacity, rate, set_at }) => `${kind} ${toMicro(capacity)} ${toMicroRate(rate)} ${set_at}`,
  );
  return [toMicro(cost), rate.limit.shadow ? 1 : 0, ...texts].join(" ");
}

/**
 * Throws `cost-exceeds-capacity`, naming the field, for a cost that a full bucket could not meet; never of a limit that
 * only watches.
 */
export function refuseTooDear({ name, limit }: Rate, cost: number, path = "cost"): void {
  if (limit.shadow || toMicro(cost) <= toMicro(limit.capacity)) return;
  throw new Problem("cost-exceeds-capacity", `the limit ${name} holds at most ${limit.capacity}`, {
    errors: [{ path, message: `is above the capacity ${limit.capacity}` }],
  });
}

/** The present configuration, at the rate it has come to where it adapts. */
function inForce({ versions, limit: { adapt }, pace }: Rate): Version {
  const last = versions[versions.length - 1] as Version;
  if (!adapt) return last;
  // A pace from before the present configuration says nothing about it.
  const adapted = pace.set_at > last.set_at;
  const rate = Math.min(adapt.max_per_s, Math.max(adapt.min_per_s, adapted ? pace.rate_per_s : last.rate));
  return { ...last, rate, set_at: adapted ? pace.set_at : last.set_at };
}

function parseStored(text: string): StoredLimit {
  try {
    return storedLimit.parse(JSON.parse(text));
  } catch {
    throw new StoreFault("the stored limit cannot be read; PUT the limit again");
  }
}
