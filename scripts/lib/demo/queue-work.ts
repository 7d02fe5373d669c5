// Stands in for the client's own `work()`: claims, renews through the pod's beats, completes or fails, and drains.
import { monotonicMs } from "../../../src/client/clock.ts";
import type { Fleet } from "../../../src/client/index.ts";
import { createBeater } from "../../../src/client/keeper/beater.ts";
import { sendBeats } from "../../../src/client/keeper/send-beats.ts";
import { sleep } from "../../../src/client/timers.ts";
import type { ClaimedTask } from "../../../src/queues/schema.ts";
import type { QueueCalls } from "./queue-wire.ts";

/** A delivery in a worker's hands; its signal fires when the lease is lost. */
export interface Delivery {
  task: ClaimedTask;
  signal: AbortSignal;
}

/** Who works, for whom, and how much at once. */
export interface QueueWork {
  fleet: Fleet;
  queue: QueueCalls;
  identity: { cluster: string; pod: string; instance: string };
  concurrency: number;
  /** Ends claiming; what is under way goes on. */
  stop: AbortSignal;
  /** Does the work and reports it; must not reject. */
  handle(delivery: Delivery): Promise<void>;
}

const WAIT_MS = 2_000;
const TIMEOUT_MS = 2_000;
const PAUSE_MS = 500;

/** Works on a queue until `stop` fires, then finishes what is under way and leaves the fleet. */
export async function workOnQueue(work: QueueWork): Promise<void> {
  const { fleet, queue, identity, stop } = work;
  const underWay = new Map<string, AbortController>();
  const sentAt = monotonicMs();
  const first = await fleet.heartbeat(identity);
  const start = { nextHeartbeatMs: first.next_heartbeat_ms, sentAt };
  const beater = createBeater(
    sendBeats(fleet, identity),
    { state: "ready", timeoutMs: TIMEOUT_MS, first: start },
    {
      lost: (lease, reason) => underWay.get(lease)?.abort(new Error(reason)),
      directive: () => {},
      replaced: () => process.exit(1),
      failed: () => {},
      stopped: () => {},
    },
  );
  stop.addEventListener("abort", () => beater.setState("draining"), { once: true });

  async function deliver(task: ClaimedTask, claimedAt: number): Promise<void> {
    const { id, ttl_ms: ttlMs } = task.lease;
    const controller = new AbortController();
    underWay.set(id, controller);
    beater.hold({ id, ttlMs, deadline: claimedAt + ttlMs });
    await work.handle({ task, signal: controller.signal });
    beater.drop(id);
    underWay.delete(id);
  }

  async function loop(): Promise<void> {
    for (let attempt = 0; !stop.aborted; attempt++) {
      const askedAt = monotonicMs();
      const answer = await queue
        .claim({ ...identity, max: 1, wait_ms: WAIT_MS, attempt })
        .catch(() => ({ tasks: [], retry_after_ms: PAUSE_MS }));
      if (answer.tasks.length > 0) attempt = -1;
      for (const task of answer.tasks) await deliver(task, askedAt);
      if (answer.retry_after_ms) await sleep(Math.min(PAUSE_MS, answer.retry_after_ms), stop).catch(() => {});
    }
  }

  await Promise.all(Array.from({ length: work.concurrency }, loop));
  await beater.stop();
  await fleet.leave(identity).catch(() => {});
}
