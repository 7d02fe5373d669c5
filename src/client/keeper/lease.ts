import { LeaseLostError, type LossReason } from "../errors.ts";
import type { Lease, ReleaseOutcome } from "./types.ts";

/** What was granted; `deadline` is on the monotonic clock. Id, ttl and deadline are null when degraded. */
export type Grant = { class: string; requestId: string } & (
  | { id: string; ttlMs: number; deadline: number }
  | { id: null; ttlMs: null; deadline: null }
);

/** What a lease needs of its pod. */
export interface LeaseKeeper {
  /** Judges deadlines now; may call the lease's own `lose`. */
  check(): void;
  /** Ends renewing and gives the slot back; must not reject. */
  release(id: string, ttlMs: number): Promise<ReleaseOutcome>;
  /** The lease has ended, one way or another. */
  ended(): void;
}

/** A lease with the way to take it from its holder. */
export interface LeaseHandle {
  lease: Lease;
  lose(reason: LossReason): void;
}

/** Makes a lease that ends once: by the first of `release()` and `lose()`. */
export function createLease(grant: Grant, keeper: LeaseKeeper): LeaseHandle {
  const controller = new AbortController();
  let releasing: Promise<ReleaseOutcome> | undefined;

  async function giveBack(): Promise<ReleaseOutcome> {
    if (grant.id === null) return "degraded";
    return keeper.release(grant.id, grant.ttlMs);
  }

  function release(): Promise<ReleaseOutcome> {
    if (releasing !== undefined) return releasing;
    keeper.check();
    if (controller.signal.aborted) return Promise.resolve("lost");
    releasing = giveBack();
    releasing.then(keeper.ended);
    return releasing;
  }

  return {
    lease: {
      id: grant.id,
      class: grant.class,
      ttlMs: grant.ttlMs,
      requestId: grant.requestId,
      degraded: grant.id === null,
      signal: controller.signal,
      get lost() {
        keeper.check();
        return controller.signal.aborted;
      },
      release,
      [Symbol.asyncDispose]: async () => {
        await release();
      },
    },
    lose: (reason) => {
      if (releasing !== undefined || controller.signal.aborted) return;
      controller.abort(new LeaseLostError(grant.id, reason));
      keeper.ended();
    },
  };
}
