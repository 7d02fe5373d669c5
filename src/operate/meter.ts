import type { Tallies } from "../leases/tallies.ts";
import type { Trip } from "../redis/metered.ts";

/** Upper bounds of the buckets of store latency, in ms. */
export const TRIP_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500] as const;
export const TRIP_FAILURES = ["timeout", "unreachable", "refused", "no_answer", "fault"] as const;
export const STATUSES = ["2xx", "3xx", "4xx", "5xx"] as const;

/** The fields of the coordinator's totals. */
export const METER_FIELDS = {
  requests: (status: string) => `requests/${status}`,
  trips: (place: number) => `trips/${TRIP_BOUNDS_MS[place] ?? "more"}`,
  tripsMs: "trips_ms",
  failures: (kind: string) => `failures/${kind}`,
} as const;

export interface Meter {
  trip(trip: Trip): void;
  /** An answer went out: a moment to write what has waited. */
  answered(status: number): void;
}

/** Counts the trips and answers of the whole coordinator under the key of its totals. */
export function makeMeter(key: string, tallies: Tallies): Meter {
  return {
    trip({ ms, failed }) {
      const place = TRIP_BOUNDS_MS.findIndex((bound) => ms <= bound);
      tallies.add(key, METER_FIELDS.trips(place < 0 ? TRIP_BOUNDS_MS.length : place));
      tallies.add(key, METER_FIELDS.tripsMs, ms);
      if (failed) tallies.add(key, METER_FIELDS.failures(failed));
    },
    answered(status) {
      tallies.add(key, METER_FIELDS.requests(`${Math.floor(status / 100)}xx`));
      tallies.settle();
    },
  };
}
