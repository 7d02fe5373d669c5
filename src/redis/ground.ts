import type { Clock } from "./clock.ts";
import type { Keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** What every room stands on. `defer` lets work go on after the answer, as `waitUntil` does. */
export interface Ground {
  store: Store;
  keys: Keys;
  clock: Clock;
  defer(work: Promise<unknown>): void;
}
