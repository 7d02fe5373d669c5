import { fired, linked } from "../abort.ts";
import { createActivity } from "../keeper/activity.ts";
import type { Hold } from "../keeper/hold.ts";
import type { Inside } from "../keeper/inside.ts";
import type { Pod } from "../keeper/types.ts";
import type { QueueCalls } from "../queue-calls.ts";
import { type Delivery, nextTasks } from "./claim.ts";
import { createPlaces } from "./places.ts";
import { runTask } from "./run.ts";
import type { Handler, Worker, WorkerOptions } from "./types.ts";

/** The most tasks one claim may ask for. */
const TASKS_A_CLAIM = 10;

/** What a worker is made of. The two that hear of failures must not throw, `finish` must not reject. */
export interface WorkerParts {
  calls: QueueCalls;
  pod: Pod;
  inside: Inside;
  handler: Handler;
  concurrency: number;
  waitMs: number;
  taskFailed: NonNullable<WorkerOptions["onTaskError"]>;
  claimFailed: NonNullable<WorkerOptions["onClaimError"]>;
  /** Ends the worker's own pod, once its work has ended or its grace is over. */
  finish(): Promise<void>;
}

/** Starts claiming, as many tasks at a time as there are free places. */
export function startWorker(parts: WorkerParts): Worker {
  const { calls, pod, inside, handler } = parts;
  const places = createPlaces(parts.concurrency);
  const inHand = createActivity<Hold>();
  const counts = { completed: 0, failed: 0, handedBack: 0, lost: 0, unconfirmed: 0 };
  const stopping = new AbortController();
  const closing = linked(pod.closing, stopping.signal);
  const claimer = { calls, pod: inside, waitMs: parts.waitMs, failed: parts.claimFailed };
  const runner = { calls, pod: inside, handler, inHand, failed: parts.taskFailed };

  async function run(delivery: Delivery): Promise<void> {
    places.take();
    counts[await runTask(runner, delivery)]++;
    places.give();
  }

  async function claimAll(): Promise<void> {
    try {
      for (;;) {
        const free = await places.free(closing.signal);
        const deliveries = await nextTasks(claimer, Math.min(TASKS_A_CLAIM, free), closing.signal);
        for (const delivery of deliveries) run(delivery);
      }
    } catch {
      // The pod closes, or the worker was stopped.
    } finally {
      closing.unlink();
    }
  }

  async function end(): Promise<void> {
    const finished = parts.finish();
    await claiming;
    await inHand.idle();
    await finished;
  }

  const done = fired(closing.signal).then(end);
  const claiming = claimAll();
  inside.track(claiming);
  const stop = () => {
    stopping.abort();
    return done;
  };
  return {
    pod,
    get counts() {
      return { running: places.taken, ...counts };
    },
    done,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
