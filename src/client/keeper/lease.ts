import type { Hold } from "./hold.ts";
import type { Lease, ReleaseOutcome } from "./types.ts";

/** What was granted; `deadline` is on the monotonic clock. Id, ttl and deadline are null when degraded. */
export type Grant = { class: string; requestId: string } & (
  | { id: string; ttlMs: number; deadline: number }
  | { id: null; ttlMs: null; deadline: null }
);

/** Makes the lease its holder sees; `release`, which must not reject, gives a slot back at the coordinator. */
export function createLease(
  grant: Grant,
  hold: Hold,
  release: (id: string, ttlMs: number) => Promise<ReleaseOutcome>,
): Lease {
  let releasing: Promise<ReleaseOutcome> | undefined;

  async function giveBack(): Promise<ReleaseOutcome> {
    return grant.id === null ? "degraded" : release(grant.id, grant.ttlMs);
  }

  const lease: Lease = {
    id: grant.id,
    class: grant.class,
    ttlMs: grant.ttlMs,
    requestId: grant.requestId,
    degraded: grant.id === null,
    signal: hold.signal,
    get lost() {
      return hold.lost;
    },
    release: () => {
      releasing ??= hold.end(giveBack);
      return releasing;
    },
    [Symbol.asyncDispose]: async () => {
      await lease.release();
    },
  };
  return lease;
}
