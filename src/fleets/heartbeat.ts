import type * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { capacityOf } from "../leases/capacity.ts";
import { type Configurations, isDraining } from "../leases/configuration.ts";
import type { Denials } from "../leases/denials.ts";
import { isHeldBy, type Lease, parseLease, renewedUntil } from "../leases/lease-id.ts";
import type { Policy } from "../leases/policy.ts";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import type { HeartbeatAnswer, HeartbeatsAnswer, heartbeatBody, heartbeatsBody } from "./schema.ts";
import * as scripts from "./scripts.ts";

export interface HeartbeatOptions extends Ground {
  configurations: Configurations;
  denials: Denials;
}

interface Beat {
  cluster: string;
  pod: string;
  instance?: string | undefined;
  slots?: number | undefined;
  state?: "ready" | "starting" | "draining" | undefined;
  leases?: string[] | undefined;
  labels?: Record<string, string> | undefined;
}

const KIND = { ready: "p", starting: "s", draining: "d" };

export function makeHeartbeat({ store, keys, clock, configurations, denials }: HeartbeatOptions) {
  // Which pods this isolate has heard, as they stand in the set: it saves a look into the records.
  const heard = new BoundedMap<string, string>(50_000);

  /** Beats for pods of one fleet in one script; places in the answers are those of `beats`. */
  async function beat(fleet: string, beats: readonly Beat[], policy: Policy) {
    const now = await clock.now();
    const known = beats.map(({ cluster, pod }) => heard.get(`${fleet}/${cluster}/${pod}`));
    const pods = beats.map((one, at) => [
      `${one.cluster}/${one.pod}`,
      KIND[one.state ?? "ready"],
      one.instance ?? "",
      one.slots ?? 1,
      known[at] === undefined ? "none" : known[at] === shapeOf(one) ? "same" : "other",
      one.labels ? JSON.stringify(one.labels) : "",
    ]);
    const { mine, foreign } = sortLeases(beats);
    const leases = mine.map(({ owner, id, lease }) => [owner + 1, id, renewedUntil(lease, now)]);
    const [stale, joined, lost, live, busy] = await store.run(scripts.heartbeat, {
      keys: keys.fleet(fleet),
      args: { now, expires_at: now + policy.ttl_ms, pod_count: beats.length },
      rest: [...pods.flat(), ...leases.flat()],
    });
    const refused = new Set(stale);
    for (const [at, one] of beats.entries()) {
      if (!refused.has(at + 1)) heard.set(`${fleet}/${one.cluster}/${one.pod}`, shapeOf(one));
    }
    if (joined.length > 0) denials.forget(fleet);
    const lapsed = lost.flatMap((place) => mine[place - 1]?.id ?? []);
    return { stale: stale.map((place) => place - 1), lost: [...foreign, ...lapsed], live, busy };
  }

  return {
    /** One pod's beat. Throws `stale-instance` while a newer instance of it lives, and for an hour after. */
    async heartbeat(fleet: string, body: z.output<typeof heartbeatBody>): Promise<HeartbeatAnswer> {
      const configuration = await configurations.of(fleet);
      const { policy } = configuration;
      const { stale, lost, live, busy } = await beat(fleet, [body], policy);
      if (stale.length > 0) {
        throw new Problem("stale-instance", "a newer instance of this pod is live; stop this one", {
          errors: [{ path: "instance", message: "is older than the one that is live" }],
        });
      }
      const directive = isDraining(configuration, body.cluster, body.pod) ? "drain" : "run";
      const answer: HeartbeatAnswer = { ...pace(policy), directive, lost };
      if (live < 0) return answer;
      const capacity = capacityOf(live, policy.classes.normal?.ratio ?? 1);
      return { ...answer, live, busy, capacity };
    },

    /** Beats of many pods of one cluster. Stale ones are named, not thrown. */
    async heartbeats(fleet: string, body: z.output<typeof heartbeatsBody>): Promise<HeartbeatsAnswer> {
      const configuration = await configurations.of(fleet);
      const beats = body.pods.map((one) => ({ ...one, cluster: body.cluster }));
      const { stale, lost } = await beat(fleet, beats, configuration.policy);
      const drain = beats
        .filter(({ pod }) => isDraining(configuration, body.cluster, pod))
        .map(({ pod }) => pod);
      const staleNames = stale.flatMap((at) => beats[at]?.pod ?? []);
      return { ...pace(configuration.policy), lost, drain, stale: staleNames };
    },
  };
}

const shapeOf = ({ state = "ready", instance = "", slots = 1 }: Beat) =>
  `${KIND[state]}/${instance}/${slots}`;

/** How long a beat lasts and when the next is due, in ms (PROTOCOL, heartbeat). */
function pace({ ttl_ms, heartbeat_ms }: Policy) {
  return { ttl_ms, next_heartbeat_ms: Math.min(heartbeat_ms, Math.floor(ttl_ms / 3)) };
}

/** Leases taken by the very pod that lists them, and those that were not, which are lost without asking. */
function sortLeases(beats: readonly Beat[]) {
  const mine: { owner: number; id: string; lease: Lease }[] = [];
  const foreign: string[] = [];
  for (const [owner, { cluster, pod, instance = "", leases = [] }] of beats.entries()) {
    for (const id of new Set(leases)) {
      const lease = parseLease(id);
      if (lease && isHeldBy(lease, { cluster, pod, instance })) mine.push({ owner, id, lease });
      else foreign.push(id);
    }
  }
  return { mine, foreign };
}
