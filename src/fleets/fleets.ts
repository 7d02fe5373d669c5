import type * as z from "zod/mini";
import { type Configurations, drainEntries } from "../leases/configuration.ts";
import type { Denials } from "../leases/denials.ts";
import { parseLease } from "../leases/lease-id.ts";
import type { Ledger } from "../leases/ledger.ts";
import type { Policy } from "../leases/policy.ts";
import type { Rates } from "../rates/rates.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import { makeAcquire } from "./acquire.ts";
import { makeHeartbeat } from "./heartbeat.ts";
import { makeHousekeeping } from "./housekeeping.ts";
import { makePods } from "./pods.ts";
import type {
  acquireBody,
  DrainAnswer,
  drainBody,
  heartbeatBody,
  heartbeatsBody,
  LeaveAnswer,
  leaveBody,
  ReleaseAnswer,
} from "./schema.ts";
import * as scripts from "./scripts.ts";
import { makeStatus } from "./status.ts";

export interface FleetsOptions extends Ground {
  configurations: Configurations;
  denials: Denials;
  rates: Rates;
  ledger: Ledger;
  /** Returns the tasks of a pod that leaves to their queues, by lease; gives the leases that it ended. */
  handBack(fleet: string, leases: readonly string[]): Promise<string[]>;
}

export type Fleets = ReturnType<typeof makeFleets>;

/** The brake: pods count themselves, and a slot is granted only while busy < max(1, floor(ratio · live)). */
export function makeFleets(room: FleetsOptions) {
  const { store, keys, clock, configurations, denials, ledger } = room;
  const housekeeping = makeHousekeeping(room);
  const beats = makeHeartbeat(room);
  const acquire = makeAcquire(room);
  const { status, list } = makeStatus(room);
  const leased = (fleet: string) => housekeeping.noticed(fleet, "members");

  return {
    status,
    list,
    pods: makePods(room),
    purgeAll: housekeeping.purgeAll,
    names: housekeeping.names,
    turn: housekeeping.turn,
    /** Called after a slot was taken, here or by another room. */
    leased,

    async heartbeat(fleet: string, body: z.output<typeof heartbeatBody>) {
      const answer = await beats.heartbeat(fleet, body);
      housekeeping.noticed(fleet, "members", "pods");
      return answer;
    },

    async heartbeats(fleet: string, body: z.output<typeof heartbeatsBody>) {
      const answer = await beats.heartbeats(fleet, body);
      housekeeping.noticed(fleet, "members", "pods");
      return answer;
    },

    async acquire(fleet: string, body: z.output<typeof acquireBody>, signal: AbortSignal) {
      const started = clock.local();
      const answer = await acquire(fleet, body, signal);
      if (body.wait_ms > 0) ledger.waited(fleet, clock.local() - started);
      if (answer.granted) {
        ledger.granted(fleet, [answer.lease.id]);
        leased(fleet);
      } else {
        ledger.denied(fleet, answer.reason);
      }
      return answer;
    },

    /** Ends leases by id, each on its own; one that is not live, or that we never made, is `missing`. */
    async release(fleet: string, ids: readonly string[]): Promise<ReleaseAnswer> {
      const ours = [...new Set(ids)].filter(isSlot);
      const released = new Set<string>();
      if (ours.length > 0) {
        const now = await clock.now();
        const ended = await store.run(scripts.release, {
          keys: keys.fleet(fleet),
          args: { now },
          rest: ours,
        });
        if (ended.length !== ours.length) throw new StoreFault("release gave replies for other leases");
        for (const [at, id] of ours.entries()) if (ended[at] === 1) released.add(id);
        denials.forget(fleet);
        ledger.ended(fleet, [...released]);
      }
      return { released: [...released], missing: [...new Set(ids)].filter((id) => !released.has(id)) };
    },

    /** Takes a pod out at once with every lease of its instance. */
    async leave(fleet: string, body: z.output<typeof leaveBody>): Promise<LeaveAnswer> {
      const { cluster, pod, instance = "" } = body;
      const field = `${cluster}/${pod}`;
      const args = { now: await clock.now(), field, instance };
      const [left, released, tasks] = await store.run(scripts.leave, { keys: keys.fleet(fleet), args });
      denials.forget(fleet);
      ledger.ended(fleet, released);
      const handedBack = tasks.length > 0 ? await room.handBack(fleet, tasks) : [];
      return { left: left === 1, released: [...released, ...handedBack] };
    },

    async policy(fleet: string): Promise<Policy> {
      return (await configurations.read(fleet)).policy;
    },

    /** Replaces the policy; this isolate follows at once, others within 5 s. */
    async setPolicy(fleet: string, policy: Policy): Promise<Policy> {
      await configurations.replace(fleet, policy);
      denials.forget(fleet);
      housekeeping.noticed(fleet);
      return policy;
    },

    /** Who is told to drain now. */
    async drains(fleet: string): Promise<DrainAnswer> {
      return { draining: drainEntries(await configurations.read(fleet)) };
    },

    /** Tells pods to drain for 24 h, or takes it back; pods hear it in their next beat. */
    async drain(fleet: string, { drain, ...entry }: z.output<typeof drainBody>): Promise<DrainAnswer> {
      return { draining: await configurations.drain(fleet, entry, drain) };
    },
  };
}

/** A task's lease is ended by its own calls only (PROTOCOL, release). */
function isSlot(id: string): boolean {
  const lease = parseLease(id);
  return lease !== undefined && lease.task === undefined;
}
