import { unlessAborted } from "../abort.ts";
import { deferred } from "../deferred.ts";

/** A fixed number of places for work. */
export interface Places {
  readonly taken: number;
  take(): void;
  give(): void;
  /** Waits until a place is free and gives how many are; rejects with the signal's reason. */
  free(signal: AbortSignal): Promise<number>;
}

/** Makes so many free places. */
export function createPlaces(size: number): Places {
  let taken = 0;
  let freed = deferred();
  return {
    get taken() {
      return taken;
    },
    take: () => {
      taken++;
    },
    give: () => {
      taken--;
      freed.resolve();
      freed = deferred();
    },
    free: async (signal) => {
      while (taken >= size) await unlessAborted(freed.promise, signal);
      return size - taken;
    },
  };
}
