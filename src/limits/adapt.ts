import * as z from "zod/mini";
import type { LoadOf } from "../rates/load.ts";
import { toPace } from "../rates/pace.ts";
import type { Rate, Rates } from "../rates/rates.ts";
import { setRate } from "../rates/schema.ts";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import * as scripts from "./scripts.ts";

export interface AdaptOptions extends Ground {
  rates: Rates;
  loadOf: LoadOf;
}

export interface Adapt {
  /** Called after a take of a limit that may adapt; at most every 2 s it moves the rate, in the background. */
  noticed(rate: Rate, spent: number): void;
  /** Moves the rate of every limit that adapts; the cron of the Worker. */
  adaptAll(): Promise<void>;
}

const STEP_MS = 2_000;
/** A limit nobody took from for so long starts again from its own rate. */
const PACE_MS = 86_400_000;
/** The free plan allows 50 subrequests a run; each limit takes three. */
const MAX_LIMITS = 12;

/** Lets limits follow the queue they name: the script decides, so that one step is made however many isolates ask. */
export function makeAdapt({ store, keys, clock, defer, rates, loadOf }: AdaptOptions): Adapt {
  const uses = new BoundedMap<string, { used: number; due: number }>(2_000);

  async function step(limit: string): Promise<void> {
    const rate = await rates.of(limit);
    const { adapt } = rate.limit;
    const load = adapt && (await loadOf(adapt.queue));
    if (!adapt || !load || !(load.backlog >= 0 && load.drain_per_s >= 0)) return;
    const now = await clock.now();
    const use = uses.get(limit);
    const used = use?.used ?? 0;
    if (use) use.used = 0;
    const [perS, setAt, waitMs] = await store.run(scripts.adapt, {
      keys: keys.limit(limit),
      args: {
        now,
        step_ms: STEP_MS,
        ttl_ms: PACE_MS,
        used,
        set_rate: setRate(rate.limit),
        min: adapt.min_per_s,
        max: adapt.max_per_s,
        target_wait_ms: adapt.target_wait_ms,
        backlog: load.backlog,
        drain: load.drain_per_s,
      },
    });
    rates.learn(limit, toPace(perS, setAt, waitMs));
  }

  return {
    noticed({ name, limit }, spent) {
      if (!limit.adapt) return;
      const use = uses.get(name) ?? { used: 0, due: 0 };
      uses.set(name, use);
      use.used += spent;
      if (clock.local() < use.due) return;
      use.due = clock.local() + STEP_MS;
      defer(step(name).catch(() => undefined));
    },

    async adaptAll() {
      const all = { members: keys.adapting, min: "-inf", max: "+inf" };
      const names = await store.read(all, z.array(z.string()));
      const first = Math.floor(Math.random() * names.length);
      const turn = [...names.slice(first), ...names.slice(0, first)].slice(0, MAX_LIMITS);
      // One that fails keeps its rate, and must not keep the others from theirs.
      for (const limit of turn) await step(limit).catch(() => undefined);
    },
  };
}
