import * as z from "zod/mini";
import { attempt, broken, durationMs, leaseId, name, podName, waitMs } from "../http/fields.ts";
import { policyBody } from "../leases/policy.ts";

/** Who speaks: a pod of a cluster, in one run of its process. `instance` compares bytewise, greater is newer. */
const identity = { cluster: name, pod: podName, instance: z.optional(name) };

const labels = z
  .record(z.string().check(z.minLength(1), z.maxLength(63)), z.string().check(z.maxLength(256)))
  .check(z.refine((pairs) => Object.keys(pairs).length <= 16, { error: "must have at most 16 pairs" }));

const beat = {
  slots: z.optional(z.int().check(z.minimum(1), z.maximum(64))),
  state: z.optional(z.enum(["ready", "starting", "draining"])),
  leases: z.optional(z.array(leaseId).check(z.maxLength(100))),
};

export const heartbeatBody = z.strictObject({ ...identity, ...beat, labels: z.optional(labels) });

export const heartbeatsBody = z
  .strictObject({
    cluster: name,
    pods: z
      .array(z.strictObject({ pod: podName, instance: z.optional(name), ...beat }))
      .check(z.minLength(1), z.maxLength(500)),
  })
  .check(
    z.superRefine(({ pods }, context) => {
      const leases = pods.reduce((sum, pod) => sum + (pod.leases?.length ?? 0), 0);
      if (leases > 2_000)
        context.addIssue({ code: "custom", path: ["pods"], message: "more than 2000 leases in all" });
      const seen = new Set<string>();
      for (const [index, { pod }] of pods.entries()) {
        if (seen.has(pod))
          context.addIssue({ code: "custom", path: ["pods", index, "pod"], message: "named twice" });
        seen.add(pod);
      }
    }),
  );

export const acquireBody = z.strictObject({
  ...identity,
  request_id: z.optional(name),
  class: z._default(name, "normal"),
  ttl_ms: z.optional(durationMs),
  wait_ms: z._default(waitMs, 0),
  attempt: z._default(attempt, 0),
});

export const releaseBody = z.strictObject({
  leases: z.array(leaseId).check(z.minLength(1), z.maxLength(256)),
});

export const leaveBody = z.strictObject(identity);

export const drainBody = z.strictObject({
  cluster: z.optional(name),
  pod: z.optional(podName),
  drain: z.boolean(),
});

/** What a status may tell beside what it always does: what each class holds. */
export const statusQuery = z.strictObject({ held: z.optional(z.enum(["true", "false"])) });

const count = z.int().check(z.minimum(0));
const counts = { live: count, busy: count, capacity: count };
const someCounts = { live: z.optional(count), busy: z.optional(count), capacity: z.optional(count) };

export const heartbeatAnswer = z.object({
  ttl_ms: z.int(),
  next_heartbeat_ms: z.int(),
  directive: z.enum(["run", "drain"]),
  lost: z.array(z.string()),
  ...someCounts,
});

export const heartbeatsAnswer = z.object({
  ttl_ms: z.int(),
  next_heartbeat_ms: z.int(),
  lost: z.array(z.string()),
  drain: z.array(z.string()),
  stale: z.array(z.string()),
});

const lease = z.object({ id: z.string(), class: z.string(), ttl_ms: z.int(), expires_at: z.int() });

export const acquireAnswer = z.discriminatedUnion("granted", [
  z.object({ granted: z.literal(true), lease, ...counts }),
  z.object({
    granted: z.literal(false),
    reason: z.enum(["at_capacity", "rate_limited", "paused"]),
    retry_after_ms: z.int().check(z.minimum(1)),
    ...someCounts,
  }),
]);

export const releaseAnswer = z.object({ released: z.array(z.string()), missing: z.array(z.string()) });

export const leaveAnswer = z.object({ left: z.boolean(), released: z.array(z.string()) });

export const fleetsAnswer = z.object({
  fleets: z.array(z.object({ fleet: z.string(), ...counts })),
  broken,
});

export const statusAnswer = z.object({
  fleet: z.string(),
  ...counts,
  available: count,
  headroom: count,
  over_by: count,
  starting: count,
  draining: count,
  classes: z.record(
    z.string(),
    z.object({ ratio: z.number(), capacity: count, available: count, busy: z.optional(count) }),
  ),
  clusters: z.record(z.string(), z.object({ live: count, busy: count })),
  policy: policyBody,
});

export const podsAnswer = z.object({
  pods: z.array(
    z.object({
      cluster: z.string(),
      pod: z.string(),
      instance: z.nullable(z.string()),
      slots: count,
      state: z.enum(["ready", "starting", "draining", "silent"]),
      labels: z.record(z.string(), z.string()),
      expires_in_ms: count,
      leases: z.array(
        z.object({ id: z.string(), class: z.string(), expires_in_ms: count, task: z.optional(z.string()) }),
      ),
    }),
  ),
  next: z.nullable(z.string()),
});

export const drainAnswer = z.object({
  draining: z.array(z.object({ cluster: z.optional(z.string()), pod: z.optional(z.string()) })),
});

/** What a caller sends (`…Call`) and hears (`…Answer`); the client imports these types and no code. */
export type HeartbeatCall = z.input<typeof heartbeatBody>;
export type HeartbeatAnswer = z.output<typeof heartbeatAnswer>;
export type HeartbeatsCall = z.input<typeof heartbeatsBody>;
export type HeartbeatsAnswer = z.output<typeof heartbeatsAnswer>;
export type AcquireCall = z.input<typeof acquireBody>;
export type AcquireAnswer = z.output<typeof acquireAnswer>;
export type ReleaseAnswer = z.output<typeof releaseAnswer>;
export type LeaveCall = z.input<typeof leaveBody>;
export type LeaveAnswer = z.output<typeof leaveAnswer>;
export type FleetsAnswer = z.output<typeof fleetsAnswer>;
export type StatusAnswer = z.output<typeof statusAnswer>;
export type PodsAnswer = z.output<typeof podsAnswer>;
export type PolicyCall = z.input<typeof policyBody>;
export type DrainCall = z.input<typeof drainBody>;
export type DrainAnswer = z.output<typeof drainAnswer>;
