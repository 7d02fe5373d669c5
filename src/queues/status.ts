import { StoreFault } from "../redis/errors.ts";
import { type Readable, readEach } from "../redis/readable.ts";
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

    /** Counts of many queues in few trips; one that is not there is left out, one that is broken told apart. */
    async statuses(
      queues: readonly string[],
      isWanted: (config: QueueConfig) => boolean = () => true,
      most = Number.POSITIVE_INFINITY,
    ): Promise<Readable<QueueAnswer>> {
      const { rows, broken } = await configs.several(queues);
      const configured = rows.filter(({ config }) => isWanted(config)).slice(0, most);
      const now = await clock.now();
      const calls = configured.map(({ queue, config }) => callOf(queue, config, now));
      const replies = await store.runs(scripts.counts, calls);
      const names = configured.map(({ queue }) => queue);
      const counted = readEach(names, (queue, at) => {
        const [counts, row] = [replies[at], configured[at]];
        if (!counts || !row)
          throw new StoreFault(`the queue ${queue} has a record of another type; delete that`);
        return answerOf(queue, row.config, now, counts);
      });
      return { rows: counted.rows, broken: [...broken, ...counted.broken] };
    },
  };
}

function answerOf(queue: string, config: QueueConfig, now: number, counts: Counts): QueueAnswer {
  const [ready, delayed, in_flight, dead, oldest] = counts;
  const oldest_ready_ms = oldest < 0 ? 0 : Math.max(0, now - oldest);
  return { queue, ready, delayed, in_flight, dead, backlog: ready + in_flight, oldest_ready_ms, config };
}
