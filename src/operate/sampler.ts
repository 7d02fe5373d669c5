import * as z from "zod/mini";
import type { Fleets } from "../fleets/fleets.ts";
import { tenThousandths } from "../leases/capacity.ts";
import { DENIAL_REASONS, FIELDS } from "../leases/ledger.ts";
import type { Queues } from "../queues/queues.ts";
import type { Ground } from "../redis/ground.ts";
import { readablePolicy } from "./policies.ts";
import { placesOf } from "./rings.ts";
import * as scripts from "./scripts.ts";

export interface SamplerOptions extends Ground {
  fleets: Fleets;
  queues: Queues;
}

/** What one run visits, of fleets and of queues each: at most 29 trips where Workers' free plan allows 50. */
const MAX_SAMPLED = 200;
/** Ended leases stay in the set for 10 minutes (fleets/housekeeping.ts). */
const REACH_MS = 600_000;

/** Takes the samples of a minute; the cron of the Worker. */
export function makeSampler({ store, keys, clock, fleets, queues }: SamplerOptions) {
  async function sampleFleets(): Promise<void> {
    const names = await fleets.turn(MAX_SAMPLED);
    const policies = names.map((fleet) => ({ get: keys.fleet(fleet).policy }));
    const texts = await store.reads(policies, z.nullable(z.string()));
    const now = await clock.now();
    const calls = names.flatMap((fleet, at) => {
      const text = texts[at];
      // What cannot be read has no capacity to be sampled.
      if (text === undefined) return [];
      const args = { now, ratio: ratioOf(fleet, text ?? ""), reach_ms: REACH_MS, ...placesOf(now) };
      return [{ keys: keys.fleet(fleet), args, rest: DENIAL_REASONS.map(FIELDS.denials) }];
    });
    await store.runs(scripts.sample, calls);
  }

  async function sampleQueues(): Promise<void> {
    const { rows } = await queues.statuses(await queues.turn(MAX_SAMPLED));
    const now = await clock.now();
    const calls = rows.map(({ queue, config, ready, delayed, in_flight, dead, oldest_ready_ms }) => ({
      keys: { history: keys.queue(config.fleet, queue).history },
      args: {
        sample: [now, ready, delayed, in_flight, dead, oldest_ready_ms].join(" "),
        ...placesOf(now),
      },
    }));
    await store.runs(scripts.keep, calls);
  }

  return async function sample(): Promise<void> {
    await sampleFleets();
    await sampleQueues();
  };
}

const ratioOf = (fleet: string, text: string) =>
  tenThousandths(readablePolicy(fleet, text).classes.normal?.ratio ?? 1);
