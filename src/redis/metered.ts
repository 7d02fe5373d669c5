import { StoreUnavailable, type UnavailableKind } from "./errors.ts";
import type { Store } from "./store.ts";

/** One trip to the store: how long it took, how many commands it sent, and how it failed where it did. */
export interface Trip {
  ms: number;
  commands: number;
  failed?: UnavailableKind | "fault";
}

/** A store that tells of every call it made; `local` is the isolate's own time in ms. */
export function metered(store: Store, local: () => number, hear: (trip: Trip) => void): Store {
  async function measure<R>(commands: number, call: () => Promise<R>): Promise<R> {
    const started = local();
    try {
      const reply = await call();
      hear({ ms: Math.max(0, local() - started), commands });
      return reply;
    } catch (error) {
      const failed = error instanceof StoreUnavailable ? error.kind : "fault";
      hear({ ms: Math.max(0, local() - started), commands, failed });
      throw error;
    }
  }

  return {
    run: (script, call) => measure(1, () => store.run(script, call)),
    runs: (script, calls) => measure(calls.length, () => store.runs(script, calls)),
    read: (read, reply) => measure(1, () => store.read(read, reply)),
    reads: (reads, reply) => measure(reads.length, () => store.reads(reads, reply)),
    time: () => measure(1, () => store.time()),
    info: () => measure(1, () => store.info()),
  };
}
