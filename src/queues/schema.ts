import * as z from "zod/mini";
import { attempt, broken, durationMs, leaseId, name, podName, waitMs } from "../http/fields.ts";
import { PROBLEMS, type ProblemCode } from "../problems.ts";

/** The largest payload and result, in bytes of their text. */
export const MAX_PAYLOAD_BYTES = 262_144;
export const MAX_RESULT_BYTES = 65_536;
/** What is kept of an error's text, in bytes. */
export const MAX_ERROR_BYTES = 4_096;

const maxDeliveries = z.int().check(z.minimum(1), z.maximum(1_000));
const delayMs = z.int().check(z.minimum(0), z.maximum(86_400_000));
/** A task's id: a name of at most 64 characters. */
export const taskId = name.check(z.maxLength(64, { error: "must be at most 64 characters" }));

export const queueBody = z
  .strictObject({
    fleet: name,
    lease_ttl_ms: z._default(durationMs, 30_000),
    max_deliveries: z._default(maxDeliveries, 5),
    time_limit_ms: z._default(durationMs, 3_600_000),
    soft_time_limit_ms: z.optional(durationMs),
    max_backlog: z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000_000))),
    result_ttl_ms: z._default(durationMs, 86_400_000),
    /** A limit of which every claimed task takes one, under the queue's name as key. */
    limit: z.optional(name),
    paused: z._default(z.boolean(), false),
  })
  .check(
    z.refine(({ time_limit_ms: hard, soft_time_limit_ms: soft }) => soft === undefined || soft < hard, {
      path: ["soft_time_limit_ms"],
      error: "must be less than time_limit_ms",
    }),
  );

/** What a queue is, as stored and as answered. Durations in milliseconds. */
export type QueueConfig = z.output<typeof queueBody>;

/** Any JSON value, but there must be one. */
const payload = z.custom<unknown>((value) => value !== undefined, { error: "must be given" });

export const taskBody = z.strictObject({
  id: z.optional(taskId),
  payload,
  priority: z._default(z.int().check(z.minimum(0), z.maximum(9)), 0),
  class: z._default(name, "normal"),
  delay_ms: z._default(delayMs, 0),
  max_deliveries: z.optional(maxDeliveries),
  time_limit_ms: z.optional(durationMs),
});

export const tasksBody = z.strictObject({ tasks: z.array(taskBody).check(z.minLength(1), z.maxLength(100)) });

export const claimBody = z.strictObject({
  cluster: name,
  pod: podName,
  instance: z.optional(name),
  request_id: z.optional(name),
  max: z._default(z.int().check(z.minimum(1), z.maximum(10)), 1),
  wait_ms: z._default(waitMs, 0),
  attempt: z._default(attempt, 0),
});

export const completeBody = z.strictObject({ lease: leaseId, result: z.optional(z.unknown()) });

export const failBody = z.strictObject({
  lease: leaseId,
  error: z.optional(z.string().check(z.maxLength(1_048_576))),
  retry: z._default(z.boolean(), true),
  delay_ms: z.optional(delayMs),
  reason: z.optional(z.string().check(z.maxLength(128))),
});

export const redriveBody = z.strictObject({
  ids: z.optional(z.array(taskId).check(z.minLength(1), z.maxLength(1_000))),
});

export const purgeBody = z.strictObject({ state: z.enum(["ready", "delayed", "dead"]) });

export const taskState = z.enum(["delayed", "ready", "in_flight", "completed", "dead", "cancelled"]);
const count = z.int().check(z.minimum(0));

export const queueAnswer = z.object({
  queue: z.string(),
  ready: count,
  delayed: count,
  in_flight: count,
  dead: count,
  backlog: count,
  oldest_ready_ms: count,
  config: queueBody,
});

export const queuesAnswer = z.object({ queues: z.array(queueAnswer), broken });

export const enqueueAnswer = z.object({ id: z.string(), state: taskState, duplicate: z.boolean() });

export const batchAnswer = z.object({
  tasks: z.array(
    z.union([
      enqueueAnswer,
      z.object({ id: z.string(), code: z.enum(Object.keys(PROBLEMS) as [ProblemCode]) }),
    ]),
  ),
});

const claimed = z.object({
  id: z.string(),
  payload: z.unknown(),
  priority: z.int(),
  class: z.string(),
  delivery: z.int(),
  enqueued_at: z.int(),
  lease: z.object({ id: z.string(), ttl_ms: z.int(), expires_at: z.int() }),
  soft_deadline_at: z.optional(z.int()),
  deadline_at: z.int(),
});

export const claimAnswer = z.object({
  tasks: z.array(claimed),
  reason: z.optional(z.enum(["empty", "at_capacity", "rate_limited", "paused"])),
  retry_after_ms: z.optional(z.int().check(z.minimum(1))),
});

export const completeAnswer = z.object({ completed: z.literal(true), already: z.boolean() });

export const failAnswer = z.object({ state: z.enum(["ready", "delayed", "dead"]), already: z.boolean() });

export const taskAnswer = z.object({
  id: z.string(),
  state: taskState,
  priority: z.int(),
  class: z.string(),
  deliveries: count,
  deferred: count,
  enqueued_at: z.int(),
  first_claimed_at: z.optional(z.int()),
  finished_at: z.optional(z.int()),
  result: z.optional(z.unknown()),
  error: z.optional(z.string()),
  reason: z.optional(z.string()),
});

export const cancelAnswer = z.object({ id: z.string(), state: z.literal("cancelled") });

export const deadAnswer = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      reason: z.string(),
      error: z.nullable(z.string()),
      deliveries: count,
      enqueued_at: z.int(),
      first_claimed_at: z.nullable(z.int()),
      last_claimed_at: z.nullable(z.int()),
      died_at: z.int(),
    }),
  ),
  next: z.nullable(z.string()),
});

export const redriveAnswer = z.object({ redriven: count });
export const purgeAnswer = z.object({ purged: count });

/** What a caller sends (`…Call`) and hears (`…Answer`); the client imports these types and no code. */
export type QueueCall = z.input<typeof queueBody>;
export type QueueAnswer = z.output<typeof queueAnswer>;
export type QueuesAnswer = z.output<typeof queuesAnswer>;
export type TaskCall = z.input<typeof taskBody>;
export type EnqueueAnswer = z.output<typeof enqueueAnswer>;
export type BatchAnswer = z.output<typeof batchAnswer>;
export type ClaimCall = z.input<typeof claimBody>;
export type ClaimAnswer = z.output<typeof claimAnswer>;
export type ClaimedTask = z.output<typeof claimed>;
export type CompleteAnswer = z.output<typeof completeAnswer>;
export type FailCall = z.input<typeof failBody>;
export type FailAnswer = z.output<typeof failAnswer>;
export type TaskAnswer = z.output<typeof taskAnswer>;
export type CancelAnswer = z.output<typeof cancelAnswer>;
export type DeadAnswer = z.output<typeof deadAnswer>;
export type RedriveAnswer = z.output<typeof redriveAnswer>;
export type PurgeAnswer = z.output<typeof purgeAnswer>;
