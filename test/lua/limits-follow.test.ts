import { expect, inject, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { limitOf } from "../support/limit.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

test("a limit that adapts follows the queue that it names: its rate falls while the backlog outgrows the drain", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const queue = queueOf(world);
  await fleet.beatMany(50);
  await queue.configure();
  await world.put("/v1/limits/produce", {
    algorithm: "token_bucket",
    capacity: 100,
    refill_per_s: 50,
    adapt: { queue: "infer", target_wait_ms: 10_000, min_per_s: 0.5, max_per_s: 100 },
  });
  const take = () => world.post("/v1/limits/produce/take", {});
  await queue.batch(Array.from({ length: 100 }, (_, at) => ({ id: `t${at}`, payload: at })));
  expect((await take()).body.rate_per_s).toBe(50);
  for (let second = 0; second < 20; second++) {
    const task = await claimOne(queue);
    await queue.complete(task.lease.id);
    world.advance(1_000);
    await fleet.beatMany(50);
    await take();
    await world.settle();
  }
  const { body } = await take();
  // One task a second drains, so a hundred that wait are far beyond ten seconds.
  expect(body.rate_per_s).toBeLessThan(5);
  expect(body.estimated_wait_ms).toBeGreaterThan(50_000);
});

test("failed deliveries do not count as drained", async () => {
  const world = new World();
  const queue = queueOf(world);
  await fleetOf(world).beatMany(5);
  await queue.configure();
  await world.put("/v1/limits/produce", {
    algorithm: "token_bucket",
    capacity: 100,
    refill_per_s: 50,
    adapt: { queue: "infer", target_wait_ms: 10_000, min_per_s: 0.5, max_per_s: 100 },
  });
  await queue.enqueue({ id: "t1" });
  for (let delivery = 0; delivery < 4; delivery++) {
    const task = await claimOne(queue);
    await queue.fail(task.lease.id, { delay_ms: 0 });
    world.advance(2_000);
    await world.post("/v1/limits/produce/take", {});
    await world.settle();
  }
  const { body } = await world.post("/v1/limits/produce/take", {});
  expect(body.estimated_wait_ms).toBeUndefined();
});

test.each(["fleet's policy", "queue"])(
  "so does one that only a %s names, by what its gate lets pass",
  async (by) => {
    let load = { backlog: 500, drain_per_s: 10 };
    const world = new World({ restUrl: inject("plainUrl"), loadOf: async () => load });
    const [fleet, queue, limit] = [fleetOf(world), queueOf(world), limitOf(world, "starts")];
    const adapt = { queue: "next", target_wait_ms: 10_000, min_per_s: 2, max_per_s: 50 };
    await limit.set({ capacity: 10, refill_per_s: 10, adapt });
    await fleet.policy({ ttl_ms: 86_400_000, ...(by === "queue" ? {} : { limit: "starts" }) });
    await fleet.beatMany(50);
    await queue.configure(by === "queue" ? { limit: "starts" } : {});
    await queue.batch(Array.from({ length: 100 }, (_, payload) => ({ payload })));
    // What a gate grants in two seconds, and gets back.
    const pass = async () => {
      if (by === "queue") {
        const { tasks } = (await queue.claim({ max: 8 })).body;
        for (const { lease } of tasks) await queue.complete(lease.id);
      } else {
        for (let call = 0; call < 8; call++) {
          const { granted, lease } = (await fleet.acquire()).body;
          if (granted) await fleet.release(lease.id);
        }
      }
      world.advance(2_000);
      await world.settle();
    };
    const rate = async () => (await limit.peek(by === "queue" ? "infer" : "render")).body.rate_per_s;
    for (let step = 0; step < 6; step++) await pass();
    expect(await rate()).toBe(3);
    load = { backlog: 0, drain_per_s: 10 };
    for (let step = 0; step < 3; step++) await pass();
    expect(await rate()).toBeGreaterThan(3);
  },
);
