import * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import { type Readable, readEach } from "../redis/readable.ts";
import { type QueueConfig, queueBody } from "./schema.ts";
import * as scripts from "./scripts.ts";

export interface QueueConfigs {
  /** What a queue is, at most 5 s old. Throws `not-found`. */
  of(queue: string): Promise<QueueConfig>;
  /** Of many queues in one trip, asked afresh; a queue that is not there is left out. */
  several(queues: readonly string[]): Promise<Readable<{ queue: string; config: QueueConfig }>>;
  /** Throws `fleet-fixed` when the queue belongs to another fleet. */
  replace(queue: string, config: QueueConfig): Promise<void>;
}

const MEMORY_MS = 5_000;

export function makeQueueConfigs({ store, keys, clock }: Ground): QueueConfigs {
  const memory = new BoundedMap<string, { value: QueueConfig; until: number }>(2_000);

  return {
    async of(queue) {
      const known = memory.get(queue);
      if (known && clock.local() < known.until) return known.value;
      const asked = clock.local();
      const text = await store.read({ get: keys.queueConfig(queue) }, z.nullable(z.string()));
      if (text === null) {
        throw new Problem("not-found", `there is no queue ${queue}; make it with PUT /v1/queues/${queue}`);
      }
      const value = parse(text);
      memory.set(queue, { value, until: asked + MEMORY_MS });
      return value;
    },

    async several(queues) {
      const reads = queues.map((queue) => ({ get: keys.queueConfig(queue) }));
      const texts = await store.reads(reads, z.nullable(z.string()));
      return readEach(queues, (queue, at) => {
        const text = texts[at];
        return text === null ? undefined : { queue, config: parse(text ?? "") };
      });
    },

    async replace(queue, config) {
      const args = { fleet: config.fleet, text: JSON.stringify(config) };
      const set = await store.run(scripts.setConfig, { keys: { config: keys.queueConfig(queue) }, args });
      if (set === 0)
        throw new Problem("fleet-fixed", `the queue ${queue} belongs to another fleet, for good`);
      memory.delete(queue);
    },
  };
}

function parse(text: string): QueueConfig {
  try {
    return queueBody.parse(JSON.parse(text.slice(text.indexOf("\n") + 1)));
  } catch {
    throw new StoreFault("the stored configuration of the queue cannot be read; PUT it again");
  }
}
