import type { DeadAnswer, QueuesAnswer } from "../queues/schema.ts";
import { has, query, type Send } from "./call.ts";
import type { CallOptions, Settings } from "./options.ts";
import { type DeadCall, type QueueCalls, queueCalls } from "./queue-calls.ts";
import type { Handler, Worker, WorkOptions } from "./worker/types.ts";
import { work } from "./worker/work.ts";

/** One queue: its calls, its dead tasks page by page, and the worker. */
export interface Queue extends QueueCalls {
  readonly name: string;
  /** Every page of dead tasks, one after the other, asked for as it is read. */
  deadPages(page?: DeadCall, options?: CallOptions): AsyncGenerator<DeadAnswer, void, void>;
  /**
   * Joins the queue's fleet and hands its tasks to `handler` until stopped. Throws what `join` throws, and a TypeError
   * when the fleet was not given and the key may not read it. `Payload` is not checked.
   */
  work<Payload = unknown>(handler: Handler<Payload>, options: WorkOptions): Promise<Worker>;
}

/** The rooms' part of the client that speaks of queues. */
export interface QueuesRoom {
  /** The calls of one queue; sends nothing by itself. */
  queue(name: string): Queue;
  /** Every queue the key may see, or those of one fleet, with counts and configuration; 200 at most. */
  queues(call?: { fleet?: string }, options?: CallOptions): Promise<QueuesAnswer>;
}

/** Makes the queues' part of the client. */
export function queuesRoom(send: Send, settings: Settings): QueuesRoom {
  return {
    queue: (name) => {
      const calls = queueCalls(send, name);
      return {
        ...calls,
        name,
        deadPages: (page, options) => deadPages(calls, page, options),
        work: (handler, options) => work({ send, settings, calls }, handler as Handler<unknown>, options),
      };
    },
    queues: (call = {}, options) =>
      send<QueuesAnswer>(
        {
          method: "GET",
          path: `/v1/queues${query({ ...call })}`,
          accepts: (answer) => has(answer, { queues: "array" }),
        },
        options,
      ),
  };
}

async function* deadPages(calls: QueueCalls, page: DeadCall = {}, options?: CallOptions) {
  let asked = page;
  for (;;) {
    const answer = await calls.dead(asked, options);
    yield answer;
    if (typeof answer.next !== "string") return;
    asked = { ...page, cursor: answer.next };
  }
}
