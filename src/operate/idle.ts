import type { Ground } from "../redis/ground.ts";
import type { IdleAnswer } from "./schema.ts";
import * as scripts from "./scripts.ts";

/** Ended leases stay in the set for 10 minutes, so idle time is known up to that; longer is told as that. */
const REACH_MS = 600_000;

/** The live pods that hold no lease, longest idle first, at most `limit`. */
export function makeIdle({ store, keys, clock }: Ground) {
  return async function idle(fleet: string, limit: number): Promise<IdleAnswer> {
    const now = await clock.now();
    const args = { now, limit, reach_ms: REACH_MS };
    const found = await store.run(scripts.idle, { keys: keys.fleet(fleet), args });
    const pods = found.map(([field, since]) => {
      const [cluster = "", pod = ""] = field.split("/");
      return { cluster, pod, idle_ms: Math.max(0, now - since) };
    });
    return { pods };
  };
}
