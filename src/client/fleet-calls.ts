import type {
  AcquireAnswer,
  AcquireCall,
  DrainAnswer,
  DrainCall,
  HeartbeatAnswer,
  HeartbeatCall,
  HeartbeatsAnswer,
  HeartbeatsCall,
  LeaveAnswer,
  LeaveCall,
  PodsAnswer,
  PolicyCall,
  ReleaseAnswer,
  StatusAnswer,
} from "../fleets/schema.ts";
import { has, query, type Send, segment } from "./call.ts";
import { newRequestId } from "./ids.ts";
import { fleetOperateCalls } from "./operate-calls.ts";
import type { CallOptions } from "./options.ts";

export type { AcquireAnswer };

/** A fleet's policy, complete. Durations in milliseconds. */
export type PolicyAnswer = StatusAnswer["policy"];

/** Which page of pods: where to go on from, and at most how many. */
export interface PodsCall {
  cursor?: string;
  limit?: number;
}

/** The calls of one fleet, each in the wire's own shapes. All may throw ProblemError and UnavailableError. */
export type FleetCalls = ReturnType<typeof fleetCalls>;

/** Binds the calls of sections Fleets and Operate of the wire contract to one fleet. */
export function fleetCalls(send: Send, fleet: string) {
  const base = `/v1/fleets/${segment(fleet)}`;
  return {
    ...fleetOperateCalls(send, fleet),

    /** Counts one pod as live and renews its leases. */
    heartbeat: (body: HeartbeatCall, options?: CallOptions) =>
      send<HeartbeatAnswer>({ method: "POST", path: `${base}/heartbeat`, body, accepts: isBeat }, options),

    /** Counts up to 500 pods of one cluster in one call. */
    heartbeats: (body: HeartbeatsCall, options?: CallOptions) =>
      send<HeartbeatsAnswer>({ method: "POST", path: `${base}/heartbeats`, body, accepts: isBeats }, options),

    /** Asks for a slot; a missing `request_id` is made here and kept over retries, so that no retry takes two. */
    acquire: (body: AcquireCall, options?: CallOptions) =>
      send<AcquireAnswer>(
        {
          method: "POST",
          path: `${base}/acquire`,
          body: { ...body, request_id: body.request_id ?? newRequestId() },
          waitMs: body.wait_ms,
          accepts: isAcquired,
        },
        options,
      ),

    /** Gives slots back; those that had ended before stand in `missing`. */
    release: (body: { leases: string[] }, options?: CallOptions) =>
      send<ReleaseAnswer>({ method: "POST", path: `${base}/release`, body, accepts: isReleased }, options),

    /** Takes a pod out of the count and ends its leases. */
    leave: (body: LeaveCall, options?: CallOptions) =>
      send<LeaveAnswer>({ method: "POST", path: `${base}/leave`, body, accepts: isLeft }, options),

    /** The fleet's counts, classes, clusters and policy. */
    status: (options?: CallOptions) =>
      send<StatusAnswer>({ method: "GET", path: base, accepts: isStatus }, options),

    /** One page of the fleet's pods with their leases. */
    pods: (page: PodsCall = {}, options?: CallOptions) =>
      send<PodsAnswer>(
        { method: "GET", path: `${base}/pods${query({ ...page })}`, accepts: isPage },
        options,
      ),

    /** The fleet's policy. */
    getPolicy: (options?: CallOptions) =>
      send<PolicyAnswer>({ method: "GET", path: `${base}/policy`, accepts: isPolicy }, options),

    /** Replaces the fleet's policy; what is missing takes its default. */
    putPolicy: (body: PolicyCall, options?: CallOptions) =>
      send<PolicyAnswer>({ method: "PUT", path: `${base}/policy`, body, accepts: isPolicy }, options),

    /** Asks pods to drain, or no longer to; they hear it with their next heartbeat. */
    drain: (body: DrainCall, options?: CallOptions) =>
      send<DrainAnswer>({ method: "POST", path: `${base}/drain`, body, accepts: isDrain }, options),

    /** Who is asked to drain. */
    draining: (options?: CallOptions) =>
      send<DrainAnswer>({ method: "GET", path: `${base}/drain`, accepts: isDrain }, options),
  };
}

type Answer = Record<string, unknown>;
const isBeat = (answer: Answer) =>
  has(answer, { ttl_ms: "number", next_heartbeat_ms: "number", directive: "string", lost: "array" });
const isBeats = (answer: Answer) =>
  has(answer, { next_heartbeat_ms: "number", lost: "array", drain: "array", stale: "array" });
const isAcquired = (answer: Answer) =>
  answer.granted === true
    ? has(answer.lease, { id: "string", class: "string", ttl_ms: "number" })
    : answer.granted === false && has(answer, { reason: "string", retry_after_ms: "number" });
const isReleased = (answer: Answer) => has(answer, { released: "array", missing: "array" });
const isLeft = (answer: Answer) => has(answer, { left: "boolean", released: "array" });
const isStatus = (answer: Answer) => has(answer, { fleet: "string", live: "number", policy: "object" });
const isPage = (answer: Answer) => has(answer, { pods: "array" });
const isPolicy = (answer: Answer) => has(answer, { ttl_ms: "number", classes: "object" });
const isDrain = (answer: Answer) => has(answer, { draining: "array" });
