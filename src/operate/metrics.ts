import type { Caller } from "../http/auth.ts";
import { DENIAL_REASONS, FIELDS, HELD_BOUNDS_MS } from "../leases/ledger.ts";
import type { Tallies } from "../leases/tallies.ts";
import { StoreUnavailable } from "../redis/errors.ts";
import { METER_FIELDS, STATUSES, TRIP_BOUNDS_MS, TRIP_FAILURES } from "./meter.ts";
import { histogram, type Metric, prometheusText, sumAndCount } from "./prometheus.ts";
import {
  type FleetReading,
  makeReadings,
  type Readings,
  type ReadingsOptions,
  type Totals,
} from "./readings.ts";

export interface MetricsOptions extends ReadingsOptions {
  tallies: Tallies;
}

type Samples = Metric["samples"];

/** The text of a scrape; with the store down `fleetgate_up 0` and the coordinator's own counts. */
export function makeMetrics(room: MetricsOptions) {
  const read = makeReadings(room);
  const key = room.keys.totals;
  let known: ReadonlyMap<string, number> = new Map();
  /** What was told while the store was down, until the store's own totals have come as far: a counter never falls. */
  let told: ReadonlyMap<string, number> = new Map();

  return async function metrics(caller: Pick<Caller, "mayTouch">): Promise<string> {
    try {
      const readings = await read(caller);
      const totals = readings.meter;
      // Totals that fell began anew, and what was told with them.
      if ([...known].some(([field, count]) => (totals.get(field) ?? 0) < count)) told = new Map();
      known = totals;
      return prometheusText([
        gauge("up", "Whether the store answered this scrape.", [{ value: 1 }]),
        ...fleetMetrics(readings.fleets),
        ...queueMetrics(readings.queues),
        ...limitMetrics(readings.limits),
        ...unreadMetrics(readings.unread),
        ...meterMetrics((field) => Math.max(totals.get(field) ?? 0, told.get(field) ?? 0)),
        ...storeMetrics(readings.info),
      ]);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // What this isolate saw last, and what it could not write since.
      const waiting = [...room.tallies.waiting(key)];
      told = new Map([
        ...known,
        ...waiting.map(([field, by]) => [field, (known.get(field) ?? 0) + by] as const),
      ]);
      return prometheusText([
        gauge("up", "Whether the store answered this scrape.", [{ value: 0 }]),
        ...meterMetrics((field) => told.get(field) ?? 0),
      ]);
    }
  };
}

const gauge = (name: string, help: string, samples: Samples): Metric => ({
  name: `fleetgate_${name}`,
  type: "gauge",
  help,
  samples,
});

const counter = (name: string, help: string, samples: Samples): Metric => ({
  name: `fleetgate_${name}_total`,
  type: "counter",
  help,
  samples,
});

function fleetMetrics(fleets: readonly FleetReading[]): Metric[] {
  const each = (value: (reading: FleetReading) => number): Samples =>
    fleets.map((reading) => ({ labels: { fleet: reading.fleet }, value: value(reading) }));
  const held = ({ fleet, totals }: FleetReading) => {
    const counts = [...HELD_BOUNDS_MS.keys(), HELD_BOUNDS_MS.length].map((at) => totals(FIELDS.held(at)));
    return histogram({ fleet }, HELD_BOUNDS_MS, counts, totals(FIELDS.heldMs));
  };
  return [
    gauge(
      "fleet_live",
      "Live slots: N of the gate.",
      each(({ live }) => live),
    ),
    gauge(
      "fleet_busy",
      "Leases held.",
      each(({ busy }) => busy),
    ),
    gauge(
      "fleet_capacity",
      "Leases a class may hold at the live N.",
      fleets.flatMap(({ fleet, capacities }) =>
        capacities.map(([name, value]) => ({ labels: { fleet, class: name }, value })),
      ),
    ),
    gauge(
      "fleet_starting",
      "Slots of pods that are starting.",
      each(({ starting }) => starting),
    ),
    gauge(
      "fleet_draining",
      "Slots of pods that are draining.",
      each(({ draining }) => draining),
    ),
    counter(
      "fleet_grants",
      "Leases granted.",
      each(({ totals }) => totals(FIELDS.grants)),
    ),
    counter(
      "fleet_denials",
      "Leases refused, by reason.",
      fleets.flatMap(({ fleet, totals }) =>
        DENIAL_REASONS.map((reason) => ({
          labels: { fleet, reason },
          value: totals(FIELDS.denials(reason)),
        })),
      ),
    ),
    counter(
      "fleet_lapsed",
      "Leases that ran out.",
      each(({ totals }) => totals("lapsed")),
    ),
    {
      name: "fleetgate_fleet_held_seconds",
      type: "histogram",
      help: "How long leases were held, of those whose start is known.",
      samples: fleets.flatMap(held),
    },
    {
      name: "fleetgate_fleet_wait_seconds",
      type: "summary",
      help: "How long calls that were ready to wait did so.",
      samples: fleets.flatMap(({ fleet, totals }) =>
        sumAndCount({ fleet }, totals(FIELDS.waitedMs), totals(FIELDS.waits)),
      ),
    },
  ];
}

function queueMetrics(queues: Readings["queues"]): Metric[] {
  const each = (value: (queue: (typeof queues)[number]) => number): Samples =>
    queues.map((queue) => ({ labels: { queue: queue.queue }, value: value(queue) }));
  return [
    gauge(
      "queue_ready",
      "Tasks ready to be claimed.",
      each(({ ready }) => ready),
    ),
    gauge(
      "queue_delayed",
      "Tasks that are not due yet.",
      each(({ delayed }) => delayed),
    ),
    gauge(
      "queue_in_flight",
      "Tasks claimed and not ended.",
      each(({ in_flight }) => in_flight),
    ),
    gauge(
      "queue_dead",
      "Dead letters.",
      each(({ dead }) => dead),
    ),
    gauge(
      "queue_oldest_age_seconds",
      "Age of the oldest ready task.",
      each(({ oldest_ready_ms }) => oldest_ready_ms / 1_000),
    ),
  ];
}

function limitMetrics(limits: Readings["limits"]): Metric[] {
  const each = (value: (limit: (typeof limits)[number]) => number): Samples =>
    limits.map((limit) => ({ labels: { limit: limit.limit }, value: value(limit) }));
  return [
    gauge(
      "limit_level",
      "What can be taken now, of the key default.",
      each(({ remaining }) => remaining),
    ),
    gauge(
      "limit_capacity",
      "What a full bucket holds.",
      each(({ config }) => config.capacity),
    ),
    gauge(
      "limit_rate_per_second",
      "What comes back in a second, as adapted.",
      each(({ rate_per_s }) => rate_per_s),
    ),
  ];
}

function unreadMetrics({ fleets, queues, limits }: Readings["unread"]): Metric[] {
  const why = "not read by this scrape: beyond the first 100, or broken.";
  return [
    gauge("unread_fleets", `Fleets ${why}`, [{ value: fleets }]),
    gauge("unread_queues", `Queues ${why}`, [{ value: queues }]),
    gauge("unread_limits", `Limits ${why}`, [{ value: limits }]),
  ];
}

function meterMetrics(totals: Totals): Metric[] {
  const counts = [...TRIP_BOUNDS_MS.keys(), TRIP_BOUNDS_MS.length].map((at) =>
    totals(METER_FIELDS.trips(at)),
  );
  return [
    counter(
      "requests",
      "Answers given, by kind of status.",
      STATUSES.map((status) => ({ labels: { status }, value: totals(METER_FIELDS.requests(status)) })),
    ),
    {
      name: "fleetgate_store_request_seconds",
      type: "histogram",
      help: "How long the store took to answer.",
      samples: histogram({}, TRIP_BOUNDS_MS, counts, totals(METER_FIELDS.tripsMs)),
    },
    counter(
      "store_errors",
      "Requests to the store that failed, by reason.",
      TRIP_FAILURES.map((reason) => ({ labels: { reason }, value: totals(METER_FIELDS.failures(reason)) })),
    ),
  ];
}

/** The figures that the store gives of itself, where it gives them. */
function storeMetrics(info: string): Metric[] {
  const figure = (name: string): Samples => {
    const value = new RegExp(`^${name}:(\\d+)\\s*$`, "m").exec(info)?.[1];
    return value === undefined ? [] : [{ value: Number(value) }];
  };
  return [
    counter("store_commands", "Commands the store has processed.", figure("total_commands_processed")),
    gauge("store_memory_bytes", "Memory the store uses.", figure("used_memory")),
  ];
}
