/**
 * Everything this client throws, as one tree. `code` is the word to switch on.
 *
 *   FleetgateError
 *   ├── ProblemError       the coordinator refused the call (4xx, 500); never retried
 *   ├── UnavailableError   no usable answer in time (503, network, timeout), after retries
 *   ├── NotGrantedError    `pod.acquire()` waited to its end and heard no
 *   ├── LeaseLostError     the `reason` of a lost lease's AbortSignal; never thrown by a call
 *   ├── PodClosedError     the pod drains, left or was replaced, and takes no more leases
 *   ├── TaskError          thrown by a worker's handler, to say what becomes of its task
 *   └── UnsupportedError   this runtime lacks what was asked for (`thread: true` outside Node)
 *
 * A caller's own AbortSignal passes through: its `reason` is thrown as it is. A TypeError is a wrong argument.
 */
import type { FieldError, ProblemCode } from "../problems.ts";

/** The root of every error of this client; `code` names the kind. */
export class FleetgateError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.name = new.target.name;
    this.code = code;
  }
}

/** What the wire said of a refusal. `retryAfterMs` is a duration in milliseconds. */
export interface Refusal {
  code: ProblemCode | "unrecognised";
  status: number;
  detail: string;
  errors: FieldError[];
  traceId: string | undefined;
  retryAfterMs: number | undefined;
}

/** The coordinator refused: a problem's code, HTTP status, detail and refused fields; `unrecognised` is an answer that is no problem of ours. */
export class ProblemError extends FleetgateError<Refusal["code"]> {
  readonly status: number;
  readonly detail: string;
  readonly errors: FieldError[];
  readonly traceId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(refusal: Refusal) {
    const fields = refusal.errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
    super(refusal.code, fields === "" ? refusal.detail : `${refusal.detail} (${fields})`);
    this.status = refusal.status;
    this.detail = refusal.detail;
    this.errors = refusal.errors;
    this.traceId = refusal.traceId;
    this.retryAfterMs = refusal.retryAfterMs;
  }
}

/** Whether the coordinator said that it did nothing; its own faults (500) leave that open. */
export function isRefusal(error: unknown): error is ProblemError {
  return error instanceof ProblemError && error.status < 500;
}

/** The coordinator could not be asked: how many tries were made, and in `detail` what the last one met. */
export class UnavailableError extends FleetgateError<"unavailable"> {
  readonly attempts: number;
  readonly detail: string;
  readonly traceId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    attempts: number,
    last: { detail: string; traceId?: string | undefined; retryAfterMs?: number | undefined },
  ) {
    super("unavailable", `No answer from the coordinator (tries: ${attempts}): ${last.detail}`);
    this.attempts = attempts;
    this.detail = last.detail;
    this.traceId = last.traceId;
    this.retryAfterMs = last.retryAfterMs;
  }
}

/** No slot within the time given: the coordinator's reason and its hint, in milliseconds, when to ask again. */
export class NotGrantedError extends FleetgateError<"not-granted"> {
  readonly reason: "at_capacity" | "rate_limited" | "paused";
  readonly retryAfterMs: number;

  constructor(reason: NotGrantedError["reason"], retryAfterMs: number) {
    super("not-granted", `No slot was granted: ${reason}`);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * How a lease ended under its holder: `told` by the coordinator, its deadline passed in `silence`, a newer process
 * `replaced` the pod, the pod `left`, the keeper's thread `stopped`, or the task's hard `time_limit` passed.
 */
export type LossReason = "told" | "silence" | "replaced" | "left" | "stopped" | "time_limit";

/** A lease was lost while in use: found as `lease.signal.reason`. */
export class LeaseLostError extends FleetgateError<"lease-lost"> {
  readonly leaseId: string | null;
  readonly reason: LossReason;

  constructor(leaseId: string | null, reason: LossReason) {
    super("lease-lost", `The lease was lost: ${reason}`);
    this.leaseId = leaseId;
    this.reason = reason;
  }
}

/** Why a pod takes no more leases. */
export type CloseReason = "draining" | "left" | "replaced" | "stopped";

/** The pod takes no more leases. */
export class PodClosedError extends FleetgateError<"pod-closed"> {
  readonly reason: CloseReason;

  constructor(reason: CloseReason) {
    super("pod-closed", `The pod takes no more leases: ${reason}`);
    this.reason = reason;
  }
}

/** What becomes of a failed task: `retry: false` makes it dead at once; without `delayMs` the coordinator backs off. */
export interface TaskErrorOptions {
  retry?: boolean;
  delayMs?: number;
  /** A word that dead letters are told apart by, at most 128 characters. */
  reason?: string;
}

/** For a worker's handler to throw: fails its task in a chosen way. Any other error is a retry with the default delay. */
export class TaskError extends FleetgateError<"task-failed"> {
  readonly retry: boolean;
  readonly delayMs: number | undefined;
  readonly reason: string | undefined;

  constructor(message: string, options: TaskErrorOptions = {}) {
    super("task-failed", message);
    this.retry = options.retry ?? true;
    this.delayMs = options.delayMs;
    this.reason = options.reason;
  }
}

/** This runtime lacks what was asked for. */
export class UnsupportedError extends FleetgateError<"unsupported"> {
  constructor(message: string) {
    super("unsupported", message);
  }
}
