import type { Send } from "../call.ts";
import { ProblemError } from "../errors.ts";
import { fleetCalls } from "../fleet-calls.ts";
import { insideOf } from "../keeper/inside.ts";
import { join } from "../keeper/join.ts";
import { finishAndLeave } from "../keeper/shutdown.ts";
import { tell } from "../keeper/tell.ts";
import type { JoinOptions, Pod } from "../keeper/types.ts";
import { duration, type Settings } from "../options.ts";
import type { QueueCalls } from "../queue-calls.ts";
import type { Handler, Worker, WorkerOptions, WorkOptions } from "./types.ts";
import { startWorker } from "./worker.ts";

/** The most places a pod may count for. */
const MOST_SLOTS = 64;
const LONGEST_WAIT_MS = 25_000;

/** Which queue is worked for, and how it is reached. */
export interface Working {
  send: Send;
  settings: Settings;
  calls: QueueCalls;
}

/** Joins, unless a pod was given, and starts a worker. Throws what `join` throws, and a TypeError for a wrong option. */
export async function work(working: Working, handler: Handler, options: WorkOptions): Promise<Worker> {
  const { concurrency, waitMs } = checked(options);
  const own = isGiven(options) ? undefined : await joinAs(working, options, concurrency);
  const pod = own ?? (options.pod as Pod);
  return startWorker({
    calls: working.calls,
    pod,
    inside: insideOf(pod),
    handler,
    concurrency,
    waitMs,
    taskFailed: (error, task) => tell(() => options.onTaskError?.(error, task)),
    claimFailed: (error, failures) => tell(() => options.onClaimError?.(error, failures)),
    finish: async () => {
      if (!isGiven(options)) await finishAndLeave(pod, options.graceMs);
    },
  });
}

async function joinAs(
  { send, settings, calls }: Working,
  options: JoinOptions & { fleet?: string },
  concurrency: number,
): Promise<Pod> {
  const fleet = options.fleet ?? (await fleetOf(calls, options.signal));
  const joining = { calls: fleetCalls(send, fleet), settings, fleet };
  return join(joining, {
    slots: Math.min(MOST_SLOTS, concurrency),
    onDrain: (pod) => void finishAndLeave(pod, options.graceMs),
    ...options,
  });
}

async function fleetOf(calls: QueueCalls, signal: AbortSignal | undefined): Promise<string> {
  try {
    return (await calls.status({ signal })).config.fleet;
  } catch (error) {
    if (error instanceof ProblemError && error.code === "wrong-scope")
      throw new TypeError(
        "this key may not read the queue (scope read), so its fleet must be given: { fleet }",
      );
    throw error;
  }
}

function checked({ concurrency = 1, waitMs = 4_000 }: WorkerOptions) {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new TypeError("concurrency must be a whole number, 1 or more");
  if (duration("waitMs", waitMs) > LONGEST_WAIT_MS) throw new TypeError("waitMs must be at most 25000");
  return { concurrency, waitMs: Math.round(waitMs) };
}

function isGiven(options: WorkOptions): options is WorkerOptions & { pod: Pod } {
  return typeof options.pod !== "string";
}
