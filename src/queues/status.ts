import type { QueuesOptions } from "./options.ts";
import type { QueueAnswer, QueueConfig } from "./schema.ts";
import * as scripts from "./scripts.ts";

type Counts = readonly [ready: number, delayed: number, in_flight: number, dead: number, oldest_at: number];

export function makeStatus({ store, keys, clock, configs }: QueuesOptions) {
  const callOf = (queue: string, config: QueueConfig, now: number) => ({
    keys: keys.queue(config.fleet, queue),
    args: { now, max_deliveries: config.max_deliveries },
  });

  return {
    /** Counts of one queue, as they are now. Throws `not-found`. */
    async status(queue: string): Promise<QueueAnswer> {
      const config = await configs.of(queue);
      const now = await clock.now();
      return answerOf(queue, config, now, await store.run(scripts.counts, callOf(queue, config, now)));
    },

    /** Counts of many queues in few trips; one that is not there, or cannot be read, is left out. */
    async statuses(queues: readonly string[]): Promise<QueueAnswer[]> {
      const configured = [...(await configs.several(queues))];
      const now = await clock.now();
      const replies = await store.runs(
        scripts.counts,
        configured.map(([queue, config]) => callOf(queue, config, now)),
      );
      return configured.flatMap(([queue, config], at) => {
        const counts = replies[at];
        return counts ? [answerOf(queue, config, now, counts)] : [];
      });
    },
  };
}

function answerOf(queue: string, config: QueueConfig, now: number, counts: Counts): QueueAnswer {
  const [ready, delayed, in_flight, dead, oldest] = counts;
  const oldest_ready_ms = oldest < 0 ? 0 : Math.max(0, now - oldest);
  return { queue, ready, delayed, in_flight, dead, backlog: ready + in_flight, oldest_ready_ms, config };
}
