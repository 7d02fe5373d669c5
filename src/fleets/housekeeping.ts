import * as z from "zod";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import * as scripts from "./scripts.ts";

export interface Housekeeping {
  /** Called after a fleet was written to; at most hourly it registers the name and purges, in the background. */
  noticed(fleet: string): void;
  /** Fleets heard of in the last 24 h. */
  names(): Promise<string[]>;
  /** Purges registered fleets; the cron of the Worker. */
  purgeAll(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const SILENCE_MS = 24 * HOUR_MS;
/** How long a late repeat of an ended request is recognised; PROTOCOL promises 10 minutes. */
const LEASE_MEMORY_MS = 600_000;
/** How long a pod that lapsed still refuses its older instances (PROTOCOL, heartbeat). */
const POD_MEMORY_MS = HOUR_MS;
/** Beyond the longest lease and the longest time between two notices. */
const KEY_TTL_MS = 48 * HOUR_MS;
const STEP = 2_000;
const MAX_STEPS = 25;
/** The free plan allows 50 subrequests a run. */
const MAX_FLEETS = 40;

export function makeHousekeeping({ store, keys, clock, defer }: Ground): Housekeeping {
  const due = new BoundedMap<string, number>(2_000);

  async function purge(fleet: string, steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const more = await store.run(scripts.purge, {
        keys: keys.fleet(fleet),
        args: {
          now: await clock.now(),
          limit: STEP,
          lease_memory_ms: LEASE_MEMORY_MS,
          pod_memory_ms: POD_MEMORY_MS,
          key_ttl_ms: KEY_TTL_MS,
        },
      });
      if (!more) return;
    }
  }

  async function keep(fleet: string): Promise<void> {
    const now = await clock.now();
    await store.run(scripts.register, {
      keys: { fleets: keys.fleets },
      args: { now, silence_ms: SILENCE_MS, fleet },
    });
    await purge(fleet, 1);
  }

  async function names(): Promise<string[]> {
    const min = `(${(await clock.now()) - SILENCE_MS}`;
    const [fleets] = await store.reads([{ members: keys.fleets, min, max: "+inf" }], z.array(z.string()));
    return fleets ?? [];
  }

  return {
    names,
    noticed(fleet) {
      if (clock.local() < (due.get(fleet) ?? 0)) return;
      due.set(fleet, clock.local() + HOUR_MS);
      defer(keep(fleet).catch(() => due.delete(fleet)));
    },
    async purgeAll() {
      const fleets = await names();
      const first = Math.floor(Math.random() * fleets.length);
      const turn = [...fleets.slice(first), ...fleets.slice(0, first)].slice(0, MAX_FLEETS);
      const steps = Math.max(1, Math.floor(MAX_STEPS / Math.max(1, turn.length)));
      for (const fleet of turn) await purge(fleet, steps);
    },
  };
}
