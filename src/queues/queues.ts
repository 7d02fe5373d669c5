import type * as z from "zod";
import { makeRegistry } from "../leases/registry.ts";
import { makeClaim } from "./claim.ts";
import { makeQueueConfigs } from "./configs.ts";
import { makeEnqueue } from "./enqueue.ts";
import { makeFinish } from "./finish.ts";
import { makeLetters } from "./letters.ts";
import type { QueuesGround } from "./options.ts";
import type { claimBody, QueueAnswer, QueueConfig, taskBody } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { makeTasks } from "./tasks.ts";

export type Queues = ReturnType<typeof makeQueues>;

/** Timers one step of a sweep works off; the claim's own step is 500, so that it stays short. */
const SWEEP_STEP = 1_000;
const SWEEP_STEPS = 5;
/** What one cron run visits and does: the free plan of Workers allows it 50 subrequests, and fleets need theirs. */
const CRON_QUEUES = 8;
const CRON_STEPS = 8;

/** Tasks with leases: a pod gets a slot and a task in one step, or neither. */
export function makeQueues(ground: QueuesGround) {
  const { store, keys, clock } = ground;
  const configs = makeQueueConfigs(ground);
  const room = { ...ground, configs };
  const registry = makeRegistry(ground, keys.queues, async (queue) => void (await sweep(queue)));
  const { enqueue, batch } = makeEnqueue(room);
  const claim = makeClaim(room);

  async function sweep(queue: string, steps = SWEEP_STEPS): Promise<number> {
    const { fleet, max_deliveries } = await configs.of(queue);
    for (let step = 1; step <= steps; step++) {
      const args = { now: await clock.now(), max_deliveries, limit: SWEEP_STEP };
      const looked = await store.run(scripts.sweep, { keys: keys.queue(fleet, queue), args });
      if (looked < SWEEP_STEP) return step;
    }
    return steps;
  }

  return {
    ...makeFinish(room),
    ...makeTasks(room),
    ...makeLetters(room, sweep),
    /** The fleet whose slots the queue's tasks take. Throws `not-found`. */
    fleetOf: async (queue: string) => (await configs.of(queue)).fleet,

    /** Sets what a queue is. Throws `fleet-fixed`. */
    async configure(queue: string, config: QueueConfig): Promise<QueueConfig> {
      await configs.replace(queue, config);
      registry.noticed(queue);
      return config;
    },

    /** Counts of one queue, as they are now. */
    async status(queue: string): Promise<QueueAnswer> {
      const config = await configs.of(queue);
      const now = await clock.now();
      const args = { now, max_deliveries: config.max_deliveries };
      const call = { keys: keys.queue(config.fleet, queue), args };
      const [ready, delayed, in_flight, dead, oldest] = await store.run(scripts.counts, call);
      const oldest_ready_ms = oldest < 0 ? 0 : Math.max(0, now - oldest);
      return { queue, ready, delayed, in_flight, dead, backlog: ready + in_flight, oldest_ready_ms, config };
    },

    async enqueue(queue: string, body: z.output<typeof taskBody>, text: string) {
      const answer = await enqueue(queue, body, text);
      registry.noticed(queue);
      return answer;
    },

    async batch(queue: string, bodies: readonly z.output<typeof taskBody>[], text: string) {
      const answer = await batch(queue, bodies, text);
      registry.noticed(queue);
      return answer;
    },

    async claim(queue: string, body: z.output<typeof claimBody>, signal: AbortSignal) {
      const claimed = await claim(queue, body, signal);
      if (claimed.answer.tasks.length > 0) registry.noticed(queue);
      return claimed;
    },

    /** Sweeps some registered queues in turn; the cron of the Worker. */
    async sweepAll(): Promise<void> {
      let left = CRON_STEPS;
      for (const queue of (await registry.turn()).slice(0, CRON_QUEUES)) {
        if (left > 0) left -= await sweep(queue, left).catch(() => 1);
      }
    },
  };
}
