import type { FleetCalls } from "../fleet-calls.ts";
import type { Activity } from "./activity.ts";
import type { Beater } from "./beater.ts";
import type { HeldLease } from "./held.ts";
import { createHold, type Hold } from "./hold.ts";
import { createLease, type Grant } from "./lease.ts";
import type { Lease, ReleaseOutcome } from "./types.ts";

/** The longest a release is tried, in milliseconds; its lease lapses by its own ttl anyway. */
const RELEASE_MS = 10_000;

/** How a pod keeps leases alive until they end. */
export interface Keep {
  /** Turns a grant into the lease its holder sees. */
  lease(grant: Grant): Lease;
  /** Renews a lease that is ended in its own way; undefined stands for a degraded one, which is not renewed. */
  hold(lease: HeldLease | undefined): Hold;
}

/** Makes what keeps a pod's leases; `held` is told of each. */
export function createKeep(calls: FleetCalls, beater: Beater, held: Activity<Hold>): Keep {
  async function release(id: string, ttlMs: number): Promise<ReleaseOutcome> {
    beater.drop(id);
    // A request id of the caller's own asked twice is one slot: whoever else holds it is without it from now on.
    for (const other of held.all()) if (other.id === id) other.lose("told");
    try {
      const answer = await calls.release({ leases: [id] }, { deadlineMs: Math.min(ttlMs, RELEASE_MS) });
      return answer.released.includes(id) ? "released" : "missing";
    } catch {
      return "unconfirmed";
    }
  }

  function keep(lease: HeldLease | undefined): Hold {
    const ended = () => {
      held.delete(hold);
      if (lease !== undefined) beater.drop(lease.id);
    };
    const hold = createHold(lease?.id ?? null, { check: beater.check, ended });
    held.add(hold);
    if (lease !== undefined) beater.hold(lease);
    return hold;
  }

  return {
    hold: keep,
    lease: (grant) => createLease(grant, keep(grant.id === null ? undefined : grant), release),
  };
}
