import * as z from "zod/mini";
import { liveRange } from "../leases/bands.ts";
import { capacityOf } from "../leases/capacity.ts";
import { type Configurations, policyOf } from "../leases/configuration.ts";
import type { Policy } from "../leases/policy.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import { readEach, toldBroken } from "../redis/readable.ts";
import type { FleetsAnswer, StatusAnswer } from "./schema.ts";
import * as scripts from "./scripts.ts";

export interface StatusOptions extends Ground {
  configurations: Configurations;
}

type Tally = [
  live: number,
  busy: number,
  starting: number,
  draining: number,
  clusters: [string, number, number][],
  classes: [string, number][],
];

/** Above this many members a status may be a second old (DESIGN 6). */
const LARGE = 10_000;
const LARGE_MEMORY_MS = 1_000;

export function makeStatus({ store, keys, clock, configurations }: StatusOptions) {
  const large = new BoundedMap<string, { tally: Tally; until: number }>(100);

  async function tally(fleet: string): Promise<Tally> {
    const known = large.get(fleet);
    if (known && clock.local() < known.until) return known.tally;
    const counted = await store.run(scripts.status, {
      keys: keys.fleet(fleet),
      args: { now: await clock.now() },
    });
    const [live, busy] = counted;
    if (live + busy > LARGE) large.set(fleet, { tally: counted, until: clock.local() + LARGE_MEMORY_MS });
    return counted;
  }

  return {
    /**
     * The whole picture of one fleet; zeros and the default policy for one never heard of. `held` adds what each
     * class holds.
     */
    async status(fleet: string, held = false): Promise<StatusAnswer> {
      const { policy } = await configurations.of(fleet);
      const [live, busy, starting, draining, clusters, byClass] = await tally(fleet);
      const busyOf = new Map(byClass);
      const classes = Object.entries(policy.classes).map(([name, { ratio }]) => {
        const capacity = capacityOf(live, ratio);
        const available = Math.max(0, capacity - busy);
        const share = { ratio, capacity, available };
        return [name, held ? { ...share, busy: busyOf.get(name) ?? 0 } : share] as const;
      });
      const capacity = normalCapacity(live, policy);
      return {
        fleet,
        live,
        busy,
        capacity,
        available: Math.max(0, capacity - busy),
        headroom: Math.max(0, live - busy),
        over_by: Math.max(0, busy - live),
        starting,
        draining,
        classes: Object.fromEntries(classes),
        clusters: Object.fromEntries(clusters.map(([name, live, busy]) => [name, { live, busy }])),
        policy,
      };
    },

    /** Counts of several fleets in one trip; those that cannot be read are told apart. */
    async list(names: readonly string[]): Promise<FleetsAnswer> {
      const fleets = [...names].sort();
      const now = await clock.now();
      const reads = fleets.flatMap((fleet) => {
        const { members, policy } = keys.fleet(fleet);
        const live = { count: members, ...liveRange("ready", now) };
        return [live, { count: members, ...liveRange("lease", now) }, { get: policy }];
      });
      const replies = await store.reads(reads, z.union([z.int(), z.string(), z.null()]));
      const { rows, broken } = readEach(fleets, (fleet, at) => {
        const [live, busy, text] = replies.slice(at * 3, at * 3 + 3);
        if (typeof live !== "number" || typeof busy !== "number" || typeof text === "number")
          throw new StoreFault(`the members of the fleet ${fleet} are a record of another type; delete it`);
        if (text === undefined)
          throw new StoreFault(`the policy of the fleet ${fleet} is a record of another type; PUT it again`);
        return { fleet, live, busy, capacity: normalCapacity(live, policyOf(fleet, text ?? "")) };
      });
      return { fleets: rows, ...toldBroken(broken) };
    },
  };
}

const normalCapacity = (live: number, { classes }: Policy) => capacityOf(live, classes.normal?.ratio ?? 1);
