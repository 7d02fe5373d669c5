import { AsyncLocalStorage } from "node:async_hooks";

/** What one request asked of the store. */
export interface Trips {
  count: number;
  ms: number;
}

const current = new AsyncLocalStorage<Trips>();

/** Runs the work of one request, whose trips are then added up in `trips`. */
export function withTrips<R>(trips: Trips, work: () => R): R {
  return current.run(trips, work);
}

/** Adds a trip of so many ms to the request that made it; without effect outside of one. */
export function noteTrip(ms: number): void {
  const trips = current.getStore();
  if (!trips) return;
  trips.count += 1;
  trips.ms += ms;
}
