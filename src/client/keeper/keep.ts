import type { FleetCalls } from "../fleet-calls.ts";
import type { Activity } from "./activity.ts";
import type { Beater } from "./beater.ts";
import { createLease, type Grant, type LeaseHandle } from "./lease.ts";
import type { Lease, ReleaseOutcome } from "./types.ts";

/** The longest a release is tried, in milliseconds; its lease lapses by its own ttl anyway. */
const RELEASE_MS = 10_000;

/** Makes the function that turns a grant into a lease which the beater renews until it ends. */
export function createKeep(
  calls: FleetCalls,
  beater: Beater,
  leases: Activity<LeaseHandle>,
): (grant: Grant) => Lease {
  async function release(id: string, ttlMs: number): Promise<ReleaseOutcome> {
    beater.drop(id);
    try {
      const answer = await calls.release({ leases: [id] }, { deadlineMs: Math.min(ttlMs, RELEASE_MS) });
      return answer.released.includes(id) ? "released" : "missing";
    } catch {
      return "unconfirmed";
    }
  }

  return (grant) => {
    const handle = createLease(grant, { check: beater.check, release, ended: () => leases.delete(handle) });
    leases.add(handle);
    if (grant.id !== null) beater.hold({ id: grant.id, ttlMs: grant.ttlMs, deadline: grant.deadline });
    return handle.lease;
  };
}
