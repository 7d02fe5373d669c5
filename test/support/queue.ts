import { makeKeys } from "../../src/redis/keys.ts";
import { fleetOf } from "./fleet.ts";
import { type Heard, World } from "./world.ts";

type Fields = Record<string, unknown>;

/** Short forms of the calls of one queue, with a pod to claim as unless another is named. */
export function queueOf(world: World, name = "infer", fleet = "render") {
  const base = `/v1/queues/${name}`;
  const pod = { cluster: "a", pod: "worker-0" };
  return {
    world,
    keys: { ...makeKeys(world.prefix).queue(fleet, name), config: makeKeys(world.prefix).queueConfig(name) },
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

/** A world of its own with a fleet of `pods` that live for a day, and one queue. */
export async function openQueue(pods = 10, config: Fields = {}) {
  const world = new World();
  const fleet = fleetOf(world);
  const queue = queueOf(world);
  await fleet.policy({ ttl_ms: 86_400_000 });
  if (pods > 0) await fleet.beatMany(pods);
  await queue.configure(config);
  return { world, fleet, queue };
}

/** The ids of what a claim gave. */
export const idsOf = ({ body }: Heard): string[] => body.tasks.map(({ id }: { id: string }) => id);

/** `count` tasks t0, t1, … with the place as payload. */
export const numbered = (count: number, fields: Fields = {}, first = 0): Fields[] =>
  Array.from({ length: count }, (_, at) => ({ id: `t${first + at}`, payload: first + at, ...fields }));

/** Takes in `count` tasks, a hundred a call. */
export async function fill(queue: TestQueue, count: number, fields: Fields = {}): Promise<void> {
  for (let first = 0; first < count; first += 100) {
    await queue.batch(numbered(Math.min(100, count - first), fields, first));
  }
}

/** Claims one task, and fails the test unless there was one. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into tasks of every shape.
export async function claimOne(queue: TestQueue, fields: Fields = {}): Promise<any> {
  const { status, body }: Heard = await queue.claim(fields);
  if (!body.tasks?.[0]) throw new Error(`nothing claimed: ${status} ${JSON.stringify(body)}`);
  return body.tasks[0];
}
