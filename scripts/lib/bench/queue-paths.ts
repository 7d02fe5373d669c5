import { claimBody, completeBody, queueBody, taskBody, tasksBody } from "../../../src/queues/schema.ts";
import type { HttpCaller } from "./http.ts";
import { PAYLOAD } from "./queue-fill.ts";
import type { Rooms } from "./rooms.ts";

/** One way to a queue's scripts; each call gives what the next needs. */
export interface QueuePath {
  name: string;
  /** Takes in so many tasks with one call. */
  enqueue(tasks: number): Promise<void>;
  /** Claims at most so many; gives their leases. */
  claim(max: number): Promise<string[]>;
  complete(lease: string): Promise<void>;
}

const POD = { cluster: "c0", pod: "worker-0" };
// Unlike any other run's, so that no id is a repeat.
const RUN = Date.now().toString(36);
let ids = 0;
const newId = () => `${RUN}-${++ids}`;

/** What a queue of the bench is, ready for either way. */
export const queueConfig = (fleet: string) => queueBody.parse({ fleet, lease_ttl_ms: 60_000 });

/** The rooms without HTTP, over a store. */
export function queueRoomsPath(name: string, { queues }: Rooms, queue: string): QueuePath {
  const never = new AbortController().signal;
  return {
    name,
    async enqueue(tasks) {
      if (tasks === 1) {
        const body = { payload: PAYLOAD, id: newId() };
        await queues.enqueue(queue, taskBody.parse(body), JSON.stringify(body));
      } else {
        const body = { tasks: Array.from({ length: tasks }, () => ({ payload: PAYLOAD, id: newId() })) };
        await queues.batch(queue, tasksBody.parse(body).tasks, JSON.stringify(body));
      }
    },
    async claim(max) {
      const { answer } = await queues.claim(queue, claimBody.parse({ ...POD, max }), never);
      return answer.tasks.map(({ lease }) => lease.id);
    },
    async complete(lease) {
      const body = { lease, result: true };
      await queues.complete(queue, completeBody.parse(body), JSON.stringify(body));
    },
  };
}

/** HTTP to the Worker in workerd. */
export function queueWorkerPath({ call }: HttpCaller, queue: string): QueuePath {
  const base = `/v1/queues/${queue}`;
  return {
    name: "Worker",
    async enqueue(tasks) {
      if (tasks === 1) await call("POST", `${base}/tasks`, { payload: PAYLOAD, id: newId() });
      else {
        const body = { tasks: Array.from({ length: tasks }, () => ({ payload: PAYLOAD, id: newId() })) };
        await call("POST", `${base}/tasks/batch`, body);
      }
    },
    async claim(max) {
      const answer = await call<{ tasks: { lease: { id: string } }[] }>("POST", `${base}/claim`, {
        ...POD,
        max,
      });
      return answer.tasks.map(({ lease }) => lease.id);
    },
    complete: (lease) => call("POST", `${base}/complete`, { lease, result: true }),
  };
}
