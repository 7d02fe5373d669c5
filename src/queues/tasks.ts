import { Problem } from "../http/problem.ts";
import type { QueuesOptions } from "./options.ts";
import type { CancelAnswer, TaskAnswer } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { parseTask } from "./task.ts";

export function makeTasks({ store, keys, clock, configs, denials }: QueuesOptions) {
  async function where(queue: string, id: string) {
    const { fleet, ...config } = await configs.of(queue);
    const at = keys.queue(fleet, queue);
    return {
      fleet,
      keys: { ...at, record: at.record(id), failure: at.failure(id) },
      args: {
        now: await clock.now(),
        max_deliveries: config.max_deliveries,
        result_ttl_ms: config.result_ttl_ms,
      },
    };
  }

  return {
    /** Where a task is and what is known of it, with the result's text as it came. Throws `not-found`. */
    async task(queue: string, id: string): Promise<{ answer: TaskAnswer; json: string }> {
      const call = await where(queue, id);
      const [state, text, finished_at, result, note, reason] = await store.run(scripts.getTask, call);
      const task = parseTask(text);
      if (state === "" || !task) throw missing(queue, id);
      const error = note.slice(note.indexOf("\n") + 1);
      const answer: TaskAnswer = {
        id,
        state: state as TaskAnswer["state"],
        priority: task.priority,
        class: task.class,
        deliveries: task.deliveries,
        deferred: task.deferred,
        enqueued_at: task.enqueued_at,
        ...(task.first_claimed_at === undefined ? {} : { first_claimed_at: task.first_claimed_at }),
        ...(finished_at === 0 ? {} : { finished_at }),
        ...(error === "" ? {} : { error }),
        ...(reason === "" ? {} : { reason }),
      };
      const json = JSON.stringify(answer);
      return { answer, json: result === "" ? json : `${json.slice(0, -1)},"result":${result}}` };
    },

    /** Cancels a waiting task at once, one in flight at its next heartbeat. Throws `not-found`, `request-ended`. */
    async cancel(queue: string, id: string): Promise<CancelAnswer> {
      const { fleet, ...call } = await where(queue, id);
      const outcome = await store.run(scripts.cancel, call);
      if (outcome === "missing") throw missing(queue, id);
      if (outcome === "finished") throw new Problem("request-ended", `the task ${id} has finished already`);
      denials.forget(fleet);
      return { id, state: "cancelled" };
    },
  };
}

const missing = (queue: string, id: string) =>
  new Problem("not-found", `the queue ${queue} knows no task ${id}`);
