import type { Heard, World } from "./world.ts";

type Fields = Record<string, unknown>;

/** Short forms of the calls of one fleet, with a pod to speak as unless another is named. */
export function fleetOf(world: World, name = "render") {
  const base = `/v1/fleets/${name}`;
  const pod = { cluster: "a", pod: "worker-0" };
  return {
    world,
    beat: (fields: Fields = {}) => world.post(`${base}/heartbeat`, { ...pod, ...fields }),
    acquire: (fields: Fields = {}) => world.post(`${base}/acquire`, { ...pod, ...fields }),
    release: (...leases: string[]) => world.post(`${base}/release`, { leases }),
    leave: (fields: Fields = {}) => world.post(`${base}/leave`, { ...pod, ...fields }),
    policy: (policy: Fields) => world.put(`${base}/policy`, policy),
    drain: (fields: Fields) => world.post(`${base}/drain`, fields),
    status: async () => (await world.get(base)).body,
    pods: async (query = "") => (await world.get(`${base}/pods${query}`)).body,
    batch: (cluster: string, pods: Fields[]) => world.post(`${base}/heartbeats`, { cluster, pods }),
    /** `count` pods of one cluster beat. */
    async beatMany(count: number, cluster = "a"): Promise<void> {
      for (let first = 0; first < count; first += 500) {
        const size = Math.min(500, count - first);
        const pods = Array.from({ length: size }, (_, at) => ({ pod: `worker-${first + at}` }));
        await world.post(`${base}/heartbeats`, { cluster, pods });
      }
    },
  };
}

export type TestFleet = ReturnType<typeof fleetOf>;

/** Acquires, and fails the test unless that was granted; gives the lease's id. */
export async function lease(fleet: TestFleet, fields: Fields = {}): Promise<string> {
  const { status, body }: Heard = await fleet.acquire(fields);
  if (!body.granted) throw new Error(`not granted: ${status} ${JSON.stringify(body)}`);
  return body.lease.id;
}

/** The live leases that `pods` lists, each with the milliseconds it has left. */
export async function deadlines(fleet: TestFleet): Promise<Record<string, number>> {
  const { pods } = await fleet.pods("?limit=1000");
  const leases: { id: string; expires_in_ms: number }[] = pods.flatMap(({ leases }: Fields) => leases);
  return Object.fromEntries(leases.map(({ id, expires_in_ms }) => [id, expires_in_ms]));
}
