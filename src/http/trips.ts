import { AsyncLocalStorage } from "node:async_hooks";

/** What one request asked of the store. */
export interface Trips {
  count: number;
  /** Commands sent; what a script calls inside comes on top. */
  commands: number;
  ms: number;
}

const current = new AsyncLocalStorage<Trips>();

/** Runs the work of one request, whose trips are then added up in `trips`. */
export function withTrips<R>(trips: Trips, work: () => R): R {
  return current.run(trips, work);
}

/** Adds a trip to the request that made it; without effect outside of one. */
export function noteTrip({ ms, commands }: { ms: number; commands: number }): void {
  const trips = current.getStore();
  if (!trips) return;
  trips.count += 1;
  trips.commands += commands;
  trips.ms += ms;
}
