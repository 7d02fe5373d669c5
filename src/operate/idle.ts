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
    const flat = await store.run(scripts.idle, { keys: keys.fleet(fleet), args });
    const pods = [];
    for (let at = 0; at < flat.length; at += 2) {
      const [cluster = "", pod = ""] = String(flat[at]).split("/");
      pods.push({ cluster, pod, idle_ms: Math.max(0, now - Number(flat[at + 1])) });
    }
    return { pods };
  };
}
