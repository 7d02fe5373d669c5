import { fleetOf } from "./fleet.ts";
import type { World } from "./world.ts";

/**
 * Where every route of `urlOf` finds something: a fleet with pods and a lease, a queue with tasks in every place.
 * Gives the lease of the task in flight.
 */
export async function furnish(world: World): Promise<string> {
  const fleet = fleetOf(world, "some-fleet");
  await fleet.policy({});
  await fleet.drain({ pod: "nobody", drain: true });
  await fleet.beat({ slots: 10, labels: { gpu: "a" } });
  await fleet.beat({ pod: "two", instance: "2" });
  await fleet.acquire();
  const queue = "/v1/queues/some-queue";
  await world.put(queue, { fleet: "some-fleet", max_deliveries: 1 });
  const tasks = ["dead", "flying", "some-id"].map((id) => ({ id, payload: { id } }));
  await world.post(`${queue}/tasks/batch`, {
    tasks: [...tasks, { id: "later", payload: 1, delay_ms: 60_000 }],
  });
  const claim = async () =>
    (await world.post(`${queue}/claim`, { cluster: "a", pod: "two", instance: "2" })).body;
  const [dead] = (await claim()).tasks;
  await world.post(`${queue}/fail`, { lease: dead?.lease.id, retry: false });
  const [flying] = (await claim()).tasks;
  await world.settle();
  return flying.lease.id;
}
