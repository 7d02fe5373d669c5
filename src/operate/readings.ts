import type { Fleets } from "../fleets/fleets.ts";
import type { Caller } from "../http/auth.ts";
import { capacityOf } from "../leases/capacity.ts";
import { policyOf } from "../leases/configuration.ts";
import { DENIAL_REASONS, FIELDS, HELD_BOUNDS_MS } from "../leases/ledger.ts";
import type { Limits } from "../limits/limits.ts";
import type { LimitLevel } from "../limits/schema.ts";
import type { Queues } from "../queues/queues.ts";
import type { QueueAnswer } from "../queues/schema.ts";
import type { Ground } from "../redis/ground.ts";
import { readEach } from "../redis/readable.ts";
import { METER_FIELDS, STATUSES, TRIP_BOUNDS_MS, TRIP_FAILURES } from "./meter.ts";
import * as scripts from "./scripts.ts";

/** Totals by field; what was never counted is 0. */
export type Totals = (field: string) => number;

export interface FleetReading {
  fleet: string;
  live: number;
  busy: number;
  starting: number;
  draining: number;
  capacities: [className: string, capacity: number][];
  totals: Totals;
}

/** All that a scrape reads of the store. */
export interface Readings {
  fleets: FleetReading[];
  queues: QueueAnswer[];
  limits: LimitLevel[];
  /** How many were not read: those beyond the first 100 by name, and those whose records are broken. */
  unread: { fleets: number; queues: number; limits: number };
  meter: Map<string, number>;
  info: string;
}

export interface ReadingsOptions extends Ground {
  fleets: Fleets;
  queues: Queues;
  limits: Pick<Limits, "names" | "levels">;
}

const MAX_READ = 100;

const FLEET_FIELDS = [
  FIELDS.grants,
  "lapsed",
  FIELDS.waits,
  FIELDS.waitedMs,
  FIELDS.heldMs,
  ...DENIAL_REASONS.map(FIELDS.denials),
  ...[...HELD_BOUNDS_MS.keys(), HELD_BOUNDS_MS.length].map(FIELDS.held),
];

const ALL_METER_FIELDS = [
  METER_FIELDS.tripsMs,
  ...STATUSES.map(METER_FIELDS.requests),
  ...TRIP_FAILURES.map(METER_FIELDS.failures),
  ...[...TRIP_BOUNDS_MS.keys(), TRIP_BOUNDS_MS.length].map(METER_FIELDS.trips),
];

/** Reads fleets, queues, limits and totals: 5 commands, 7 more a fleet, about 9 a queue and 4 a limit (docs/operate.md). */
export function makeReadings({ store, keys, clock, fleets, queues, limits }: ReadingsOptions) {
  async function readFleets(names: readonly string[]): Promise<FleetReading[]> {
    const now = await clock.now();
    const calls = names.map((fleet) => ({ keys: keys.fleet(fleet), args: { now }, rest: FLEET_FIELDS }));
    const replies = await store.runs(scripts.gauge, calls);
    return readEach(names, (fleet, at) => {
      const reply = replies[at];
      if (!reply) return undefined;
      const [live, busy, starting, draining, policy, texts] = reply;
      const capacities = Object.entries(policyOf(fleet, policy).classes).map(
        ([name, { ratio }]): [string, number] => [name, capacityOf(live, ratio)],
      );
      const known = totalsOf(FLEET_FIELDS, texts);
      return {
        fleet,
        live,
        busy,
        starting,
        draining,
        capacities,
        totals: (field: string) => known.get(field) ?? 0,
      };
    }).rows;
  }

  return async function read(caller: Pick<Caller, "mayTouch">): Promise<Readings> {
    const mine = async (kind: "fleets" | "queues", names: Promise<string[]>) =>
      (await names).filter((name) => caller.mayTouch(kind, name)).sort();
    const fleetNames = await mine("fleets", fleets.names());
    const queueNames = await mine("queues", queues.names());
    const limitNames = (await limits.names()).sort();
    const readable = await readFleets(fleetNames.slice(0, MAX_READ));
    const statuses = await queues.statuses(queueNames.slice(0, MAX_READ));
    const levels = await limits.levels(limitNames.slice(0, MAX_READ));
    const beyond = (names: readonly string[]) => Math.max(0, names.length - MAX_READ);
    const call = { keys: { history: keys.totals }, args: {}, rest: ALL_METER_FIELDS };
    return {
      fleets: readable,
      queues: statuses.rows,
      limits: levels.rows,
      unread: {
        fleets: fleetNames.length - readable.length,
        queues: beyond(queueNames) + statuses.broken.length,
        limits: beyond(limitNames) + levels.broken.length,
      },
      meter: totalsOf(ALL_METER_FIELDS, await store.run(scripts.recall, call)),
      info: await store.info().catch(() => ""),
    };
  };
}

const totalsOf = (fields: readonly string[], texts: readonly string[]) =>
  new Map(fields.map((field, at) => [field, Number(texts[at] ?? 0)]));
