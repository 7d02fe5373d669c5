/// <reference lib="esnext.disposable" preserve="true" />
import type { JoinOptions, Pod } from "../keeper/types.ts";
import type { ClaimedTask } from "../queue-calls.ts";

/** Does one task: what it returns completes the task, what it throws fails it (see TaskError). */
export type Handler<Payload = unknown> = (payload: Payload, context: TaskContext) => unknown;

/** What a handler is given besides the payload. */
export interface TaskContext {
  task: ClaimedTask;
  /** Fires once if the task's lease is lost, with a LeaseLostError: stop, since it may be running elsewhere. */
  signal: AbortSignal;
  /** Fires at the queue's soft time limit, if it has one. */
  softDeadline: AbortSignal;
}

/** How a worker works. Durations in milliseconds. */
export interface WorkerOptions {
  /** How many tasks may run at once; default 1. */
  concurrency?: number;
  /**
   * How long one claim may wait at the coordinator, 0…25,000. It looks ever more rarely while it waits: within a second
   * up to the default of 4,000. With 0 an idle worker itself asks ever more rarely, up to every ten seconds.
   */
  waitMs?: number;
  /** A task failed, or its result could not be taken: what was thrown. */
  onTaskError?: (error: unknown, task: ClaimedTask) => void;
  /** A claim failed, for the n-th time in a row; the worker goes on by itself. */
  onClaimError?: (error: unknown, failures: number) => void;
}

/**
 * A worker joins as a pod of its own, or works for a pod that joined the queue's fleet before. `slots` is by default the
 * concurrency, and an operator's drain is by default heeded like SIGTERM. Without `fleet` the queue is asked for it.
 */
export type WorkOptions = WorkerOptions & ((JoinOptions & { fleet?: string }) | { pod: Pod });

/** How tasks ended so far, and how many are in hand. */
export interface WorkerCounts {
  /** Handlers under way, those that have not heeded a lost lease included. */
  running: number;
  completed: number;
  failed: number;
  /** Given back unfinished because the worker ended. */
  handedBack: number;
  /** The lease was lost, or the coordinator refused the end as late: somebody else's by now. */
  lost: number;
  /** The end was sent, but no answer came while the lease lived. */
  unconfirmed: number;
}

/** A worker at work. */
export interface Worker {
  readonly pod: Pod;
  readonly counts: Readonly<WorkerCounts>;
  /**
   * Resolves when it has stopped, for whatever reason: nothing is claimed any more, nothing is in hand, and the pod, if
   * it is the worker's own, has left. It does not wait for handlers that ignore their signal. Never rejects.
   */
  readonly done: Promise<void>;
  /** Claims nothing any more, lets the work in hand end (within `graceMs`, if it is the worker's own pod). Gives `done`. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
