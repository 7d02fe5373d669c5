import type {
  BatchAnswer,
  CancelAnswer,
  ClaimCall,
  ClaimedTask as ClaimedWire,
  ClaimAnswer as ClaimWire,
  CompleteAnswer,
  DeadAnswer,
  EnqueueAnswer,
  FailAnswer,
  FailCall,
  PurgeAnswer,
  QueueAnswer,
  QueueCall,
  QueueConfig,
  RedriveAnswer,
  TaskCall,
  TaskAnswer as TaskWire,
} from "../queues/schema.ts";
import { has, query, type Send, segment } from "./call.ts";
import { newRequestId, newTaskId } from "./ids.ts";
import { queueOperateCalls } from "./operate-calls.ts";
import type { CallOptions } from "./options.ts";
import { withPayloadTexts, withResultText } from "./texts.ts";

/** A task handed out; `payloadText` is the payload's JSON as it was sent, with every digit (not enumerable). */
export type ClaimedTask = ClaimedWire & { readonly payloadText: string };

/** What a claim gave: tasks, or why there are none and when to come back. */
export type ClaimAnswer = Omit<ClaimWire, "tasks"> & { tasks: ClaimedTask[] };

/** Where a task is; `resultText` is the result's JSON as it was sent, if there is one (not enumerable). */
export type TaskAnswer = TaskWire & { readonly resultText?: string };

/** What ends a delivery: its lease, and any JSON value of at most 64 KiB. */
export interface CompleteCall {
  lease: string;
  result?: unknown;
}

/** Which page of dead tasks: where to go on from, and at most how many. */
export interface DeadCall {
  cursor?: string;
  limit?: number;
}

/** What a purge drops. */
export interface PurgeCall {
  state: "ready" | "delayed" | "dead";
}

/** The calls of one queue, each in the wire's own shapes. All may throw ProblemError and UnavailableError. */
export type QueueCalls = ReturnType<typeof queueCalls>;

/** Binds the calls of sections Queues and Operate of the wire contract to one queue. */
export function queueCalls(send: Send, queue: string) {
  const base = `/v1/queues/${segment(queue)}`;
  return {
    ...queueOperateCalls(send, queue),

    /** Makes the queue, or changes what it is; what is missing takes its default. */
    configure: (body: QueueCall, options?: CallOptions) =>
      send<QueueConfig>({ method: "PUT", path: base, body, accepts: isConfig }, options),

    /** The queue's counts and configuration. */
    status: (options?: CallOptions) =>
      send<QueueAnswer>({ method: "GET", path: base, accepts: isStatus }, options),

    /** Takes in a task; a missing `id` is made here and kept over retries, so that no retry makes two. */
    enqueue: (body: TaskCall, options?: CallOptions) =>
      send<EnqueueAnswer>(
        { method: "POST", path: `${base}/tasks`, body: withId(body), accepts: isEnqueued },
        options,
      ),

    /** Takes in up to 100 tasks, each on its own; missing ids are made here as in `enqueue`. */
    enqueueBatch: (body: { tasks: TaskCall[] }, options?: CallOptions) =>
      send<BatchAnswer>(
        {
          method: "POST",
          path: `${base}/tasks/batch`,
          body: { ...body, tasks: body.tasks.map(withId) },
          accepts: isPage,
        },
        options,
      ),

    /** Asks for tasks with a slot each; a missing `request_id` is made here and kept over retries. */
    claim: (body: ClaimCall, options?: CallOptions) =>
      send<ClaimAnswer>(
        {
          method: "POST",
          path: `${base}/claim`,
          body: { ...body, request_id: body.request_id ?? newRequestId() },
          waitMs: body.wait_ms,
          accepts: isClaimed,
          read: withPayloadTexts,
        },
        options,
      ),

    /** Ends a delivery with its result; the repeat of an accepted one is accepted too. */
    complete: (body: CompleteCall, options?: CallOptions) =>
      send<CompleteAnswer>({ method: "POST", path: `${base}/complete`, body, accepts: isCompleted }, options),

    /** Ends a delivery without a result. */
    fail: (body: FailCall, options?: CallOptions) =>
      send<FailAnswer>({ method: "POST", path: `${base}/fail`, body, accepts: isFailed }, options),

    /** Where a task is, and its result. */
    task: (id: string, options?: CallOptions) =>
      send<TaskAnswer>(
        { method: "GET", path: `${base}/tasks/${segment(id)}`, accepts: isTask, read: withResultText },
        options,
      ),

    /** Cancels a task; one in flight loses its lease. */
    cancel: (id: string, options?: CallOptions) =>
      send<CancelAnswer>(
        { method: "DELETE", path: `${base}/tasks/${segment(id)}`, accepts: isTask },
        options,
      ),

    /** One page of the dead tasks. */
    dead: (page: DeadCall = {}, options?: CallOptions) =>
      send<DeadAnswer>(
        { method: "GET", path: `${base}/dead${query({ ...page })}`, accepts: isPage },
        options,
      ),

    /** Makes dead tasks ready again with a fresh count; without ids the first 1,000. */
    redrive: (body: { ids?: string[] } = {}, options?: CallOptions) =>
      send<RedriveAnswer>({ method: "POST", path: `${base}/redrive`, body, accepts: isRedriven }, options),

    /** Drops tasks of one state for good, at most 10,000 a call. */
    purge: (body: PurgeCall, options?: CallOptions) =>
      send<PurgeAnswer>({ method: "POST", path: `${base}/purge`, body, accepts: isPurged }, options),
  };
}

const withId = (task: TaskCall) => ({ ...task, id: task.id ?? newTaskId() });

type Answer = Record<string, unknown>;
const isConfig = (answer: Answer) => has(answer, { fleet: "string", lease_ttl_ms: "number" });
const isStatus = (answer: Answer) => has(answer, { queue: "string", ready: "number", config: "object" });
const isEnqueued = (answer: Answer) => has(answer, { id: "string", state: "string", duplicate: "boolean" });
const isPage = (answer: Answer) => has(answer, { tasks: "array" });
const isClaimed = ({ tasks }: Answer) =>
  Array.isArray(tasks) &&
  tasks.every(
    (task) =>
      has(task, { id: "string", delivery: "number", deadline_at: "number" }) &&
      has(task.lease, { id: "string", ttl_ms: "number", expires_at: "number" }),
  );
const isCompleted = (answer: Answer) => has(answer, { completed: "boolean", already: "boolean" });
const isFailed = (answer: Answer) => has(answer, { state: "string", already: "boolean" });
const isTask = (answer: Answer) => has(answer, { id: "string", state: "string" });
const isRedriven = (answer: Answer) => has(answer, { redriven: "number" });
const isPurged = (answer: Answer) => has(answer, { purged: "number" });
