import type { Heard, World } from "./world.ts";

type Fields = Record<string, unknown>;

/** Short forms of the calls of one queue, with a pod to claim as unless another is named. */
export function queueOf(world: World, name = "infer", fleet = "render") {
  const base = `/v1/queues/${name}`;
  const pod = { cluster: "a", pod: "worker-0" };
  return {
    world,
    configure: (fields: Fields = {}) => world.put(base, { fleet, ...fields }),
    enqueue: (fields: Fields = {}) => world.post(`${base}/tasks`, { payload: null, ...fields }),
    batch: (tasks: Fields[]) => world.post(`${base}/tasks/batch`, { tasks }),
    claim: (fields: Fields = {}) => world.post(`${base}/claim`, { ...pod, ...fields }),
    complete: (lease: string, fields: Fields = {}) => world.post(`${base}/complete`, { lease, ...fields }),
    fail: (lease: string, fields: Fields = {}) => world.post(`${base}/fail`, { lease, ...fields }),
    task: (id: string) => world.get(`${base}/tasks/${id}`),
    cancel: (id: string) => world.call("DELETE", `${base}/tasks/${id}`),
    dead: async (query = "") => (await world.get(`${base}/dead${query}`)).body,
    redrive: (fields: Fields = {}) => world.post(`${base}/redrive`, fields),
    purge: (state: string) => world.post(`${base}/purge`, { state }),
    status: async () => (await world.get(base)).body,
  };
}

export type TestQueue = ReturnType<typeof queueOf>;

/** Claims one task, and fails the test unless there was one. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into tasks of every shape.
export async function claimOne(queue: TestQueue, fields: Fields = {}): Promise<any> {
  const { status, body }: Heard = await queue.claim(fields);
  if (!body.tasks?.[0]) throw new Error(`nothing claimed: ${status} ${JSON.stringify(body)}`);
  return body.tasks[0];
}
