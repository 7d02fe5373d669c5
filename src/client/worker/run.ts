import { monotonicMs } from "../clock.ts";
import { LeaseLostError } from "../errors.ts";
import type { Activity } from "../keeper/activity.ts";
import type { Hold } from "../keeper/hold.ts";
import type { Inside } from "../keeper/inside.ts";
import type { QueueCalls } from "../queue-calls.ts";
import { later } from "../timers.ts";
import type { Delivery } from "./claim.ts";
import { endOf, type Reported, report } from "./report.ts";
import type { Handler, WorkerOptions } from "./types.ts";

/** What running a task needs; `inHand` holds those that may still end here. */
export interface Runner {
  calls: QueueCalls;
  pod: Inside;
  handler: Handler;
  inHand: Activity<Hold>;
  failed: NonNullable<WorkerOptions["onTaskError"]>;
}

/** Runs one task under its lease to its end. Resolves when the handler has settled and its end was told; never rejects. */
export async function runTask(
  runner: Runner,
  { task, lease, softDeadline }: Delivery,
): Promise<Reported | "handedBack"> {
  const { calls, pod, handler, inHand, failed } = runner;
  const hold = pod.hold(lease);
  inHand.add(hold);
  // A handler that ignores its signal may run on, but the task is no longer in hand.
  hold.signal.addEventListener("abort", () => inHand.delete(hold), { once: true });
  const soft = new AbortController();
  const isOver = () => soft.abort(new DOMException("the soft time limit is over", "TimeoutError"));
  const cancel = softDeadline === undefined ? () => {} : later(softDeadline - monotonicMs(), isOver);
  const context = { task, signal: hold.signal, softDeadline: soft.signal };
  const ended = await endOf(() => handler(task.payload, context));
  cancel();
  const outcome = await hold.end(() => {
    if ("threw" in ended) failed(ended.threw, task);
    return report(calls, task.lease, ended, (error) => failed(error, task));
  });
  inHand.delete(hold);
  const left = hold.signal.reason instanceof LeaseLostError && hold.signal.reason.reason === "left";
  return left ? "handedBack" : outcome;
}
