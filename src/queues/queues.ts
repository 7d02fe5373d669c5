import type * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { claimGate } from "../leases/denials.ts";
import { makeRegistry } from "../leases/registry.ts";
import type { QueueLoad } from "../rates/load.ts";
import { makeClaim } from "./claim.ts";
import { makeQueueConfigs } from "./configs.ts";
import { makeEnqueue } from "./enqueue.ts";
import { makeFinish } from "./finish.ts";
import { makeLetters } from "./letters.ts";
import type { QueuesGround } from "./options.ts";
import type { claimBody, QueueConfig, taskBody } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { makeStatus } from "./status.ts";
import { makeTasks } from "./tasks.ts";

export type Queues = ReturnType<typeof makeQueues>;

/** Timers one step of a sweep works off; the claim's own step is 500, so that it stays short. */
const SWEEP_STEP = 1_000;
const SWEEP_STEPS = 5;
/** Over how long the drain of a queue is taken. */
const LOAD_SPAN_MS = 10_000;
/** Steps of all sweeps of one cron: with the purges they stay under the 50 subrequests of Workers' free plan. */
const CRON_STEPS = 20;

/** Tasks with leases: a pod gets a slot and a task in one step, or neither. */
export function makeQueues(ground: QueuesGround) {
  const { store, keys, clock, denials, ledger } = ground;
  const configs = makeQueueConfigs(ground);
  const room = { ...ground, configs };
  const registry = makeRegistry(ground, keys.queues, sweep);
  const { status, statuses } = makeStatus(room);
  const { enqueue, batch } = makeEnqueue(room);
  const claim = makeClaim(room);

  async function sweep(queue: string): Promise<void> {
    await sweepSteps(queue, await configs.of(queue), SWEEP_STEPS);
  }

  async function sweepSteps(queue: string, config: QueueConfig, steps: number): Promise<void> {
    const { fleet, max_deliveries } = config;
    for (let step = 0; step < steps; step++) {
      const args = { now: await clock.now(), max_deliveries, limit: SWEEP_STEP };
      const looked = await store.run(scripts.sweep, { keys: keys.queue(fleet, queue), args });
      if (looked < SWEEP_STEP) return;
    }
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
      denials.forget(config.fleet, claimGate(queue));
      registry.noticed(queue);
      return config;
    },

    status,
    statuses,
    names: registry.names,
    turn: registry.turn,

    /** What a limit that follows this queue goes by; undefined for a queue that nobody made. */
    async load(queue: string): Promise<QueueLoad | undefined> {
      const config = await configs.of(queue).catch((error: unknown) => {
        if (error instanceof Problem && error.code === "not-found") return undefined;
        throw error;
      });
      if (!config) return undefined;
      const args = { now: await clock.now(), span_ms: LOAD_SPAN_MS, queue };
      const [backlog, completed] = await store.run(scripts.load, {
        keys: keys.queue(config.fleet, queue),
        args,
      });
      return { backlog, drain_per_s: (completed * 1_000) / LOAD_SPAN_MS };
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
      const { fleet } = await configs.of(queue);
      const started = clock.local();
      const claimed = await claim(queue, body, signal);
      const { tasks, reason } = claimed.answer;
      if (body.wait_ms > 0) ledger.waited(fleet, clock.local() - started);
      if (reason !== undefined && reason !== "empty") ledger.denied(fleet, reason);
      if (tasks.length > 0) {
        ledger.granted(
          fleet,
          tasks.map(({ lease }) => lease.id),
        );
        registry.noticed(queue);
        ground.leased(fleet);
      }
      return claimed;
    },

    /** Sweeps some registered queues in turn; the cron of the Worker. */
    async sweepAll(): Promise<void> {
      const { rows } = await configs.several(await registry.turn(CRON_STEPS));
      const steps = Math.max(1, Math.floor(CRON_STEPS / Math.max(1, rows.length)));
      for (const { queue, config } of rows) await sweepSteps(queue, config, steps).catch(() => undefined);
    },
  };
}
