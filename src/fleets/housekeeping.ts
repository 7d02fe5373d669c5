import { makeRegistry, type Registry } from "../leases/registry.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import * as scripts from "./scripts.ts";

export interface Housekeeping extends Registry {
  /** Purges registered fleets; the cron of the Worker. */
  purgeAll(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** How long a late repeat of an ended request is recognised; PROTOCOL promises 10 minutes. */
const LEASE_MEMORY_MS = 600_000;
/** How long a pod that lapsed still refuses its older instances (PROTOCOL, heartbeat). */
const POD_MEMORY_MS = HOUR_MS;
/** Beyond the longest lease and the longest time between two visits. */
const KEY_TTL_MS = 48 * HOUR_MS;
const STEP = 2_000;
const MAX_STEPS = 24;
/** The free plan of Workers allows 50 subrequests a run. */
const MAX_VISITS = 20;

/** Drops what has lapsed in bounded steps; counts are right without it. */
export function makeHousekeeping(ground: Ground): Housekeeping {
  const { store, keys, clock } = ground;
  const registry = makeRegistry(ground, keys.fleets, (fleet) => purge(fleet, 1));

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

  return {
    ...registry,
    async purgeAll() {
      const fleets = await registry.turn(MAX_VISITS);
      const steps = Math.max(1, Math.floor(MAX_STEPS / Math.max(1, fleets.length)));
      let broken: StoreFault | undefined;
      for (const fleet of fleets) {
        await purge(fleet, steps).catch((error: unknown) => {
          // A record of one fleet that cannot be read keeps the cron from no other.
          if (!(error instanceof StoreFault)) throw error;
          broken = error;
        });
      }
      if (broken) throw broken;
    },
  };
}
