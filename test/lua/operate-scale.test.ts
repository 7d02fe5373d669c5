import { expect, test } from "vitest";
import { capacityOf, podsFor } from "../../src/leases/capacity.ts";
import { FAULTS } from "../support/faults.ts";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

const scale = async (world: World, path: string) => (await world.get(`/v1/scale/${path}`)).body;

test("podsFor is the least number of pods whose capacity reaches the demand, whatever the ratio", () => {
  for (let ten = 1; ten <= 10_000; ten += 7) {
    for (const demand of [1, 2, 3, 7, 8, 80, 999, 123_457]) {
      const pods = podsFor(demand, ten / 10_000);
      expect(Math.floor((pods * ten) / 10_000)).toBeGreaterThanOrEqual(demand);
      expect(Math.floor(((pods - 1) * ten) / 10_000)).toBeLessThan(demand);
      expect(capacityOf(pods, ten / 10_000)).toBeGreaterThanOrEqual(demand);
    }
  }
  expect(podsFor(0, 0.8)).toBe(0);
  expect([podsFor(29, 0.29), podsFor(63, 0.7), podsFor(8, 0.8)]).toEqual([100, 90, 10]);
});

test("a fleet wants the pods that hold what is busy at the ratio of the class", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  expect(await scale(world, "fleets/render")).toEqual({ live: 0, busy: 0, capacity: 1, wanted: 0 });
  await fleet.beatMany(10);
  expect(await scale(world, "fleets/render")).toEqual({ live: 10, busy: 0, capacity: 8, wanted: 0 });
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  expect(await scale(world, "fleets/render")).toEqual({ live: 10, busy: 8, capacity: 8, wanted: 10 });
  await lease(fleet, { class: "high" });
  expect(await scale(world, "fleets/render")).toEqual({ live: 10, busy: 9, capacity: 8, wanted: 12 });
  expect(await scale(world, "fleets/render?spare=3")).toMatchObject({ wanted: 15 });
  expect(await scale(world, "fleets/render?class=high")).toMatchObject({ capacity: 10, wanted: 9 });
  expect((await world.get("/v1/scale/fleets/render?class=none")).body.code).toBe("unknown-class");
});

test("a queue wants pods for what waits and what is in flight, not for what is delayed until later", async () => {
  const world = new World();
  const queue = queueOf(world);
  await queue.configure();
  await fleetOf(world).beatMany(10);
  expect(await scale(world, "queues/infer")).toEqual({ backlog: 0, in_flight: 0, wanted: 0 });
  for (let task = 0; task < 5; task++) await queue.enqueue();
  await queue.enqueue({ delay_ms: 3_600_000 });
  await queue.enqueue({ delay_ms: 1_000 });
  await claimOne(queue);
  expect(await scale(world, "queues/infer")).toEqual({ backlog: 5, in_flight: 1, wanted: 7 });
  world.advance(1_000);
  expect(await scale(world, "queues/infer")).toEqual({ backlog: 6, in_flight: 1, wanted: 8 });
});

test("a queue or fleet that nobody made is zeros, never null, never a text", async () => {
  const world = new World();
  expect(await scale(world, "queues/nobody")).toEqual({ backlog: 0, in_flight: 0, wanted: 0 });
  expect(await scale(world, "queues/nobody?spare=5")).toEqual({ backlog: 0, in_flight: 0, wanted: 0 });
});

test.each(FAULTS.filter((fault) => !["refuse", "drop", "cut", "wrongtype", "null", "arity"].includes(fault)))(
  "with a store that answers %s there is 503 and no number",
  async (fault) => {
    const world = new World({ timeoutMs: 300 });
    const { isolate } = world.faulty(fault);
    for (const path of ["fleets/render", "queues/infer"]) {
      const { status, body } = await isolate.get(`/v1/scale/${path}`);
      expect(status).toBe(503);
      for (const number of ["live", "busy", "capacity", "wanted", "backlog", "in_flight"]) {
        expect(body).not.toHaveProperty(number);
      }
    }
  },
);

test("the pods that hold nothing come longest idle first, and a pod at work is not among them", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 3_600_000 });
  const idle = async (query = "") => (await world.get(`/v1/fleets/render/idle${query}`)).body.pods;
  expect(await idle()).toEqual([]);
  for (const pod of ["old", "worked", "lapsed", "busy", "leaver"]) await fleet.beat({ pod, slots: 2 });
  await fleet.beat({ pod: "starting", state: "starting" });
  const [done] = [await lease(fleet, { pod: "worked" }), await lease(fleet, { pod: "lapsed" })];
  await lease(fleet, { pod: "busy", ttl_ms: 3_600_000 });
  await fleet.leave({ pod: "leaver" });
  world.advance(10_000);
  await fleet.release(done);
  world.advance(60_000);
  await fleet.beat({ pod: "new", state: "draining" });
  world.advance(5_000);
  expect(await idle()).toEqual([
    { cluster: "a", pod: "old", idle_ms: 75_000 },
    { cluster: "a", pod: "worked", idle_ms: 65_000 },
    { cluster: "a", pod: "lapsed", idle_ms: 45_000 },
    { cluster: "a", pod: "new", idle_ms: 5_000 },
  ]);
  expect(await idle("?limit=1")).toHaveLength(1);
  world.advance(1_200_000);
  expect((await idle())[0]).toEqual({ cluster: "a", pod: "lapsed", idle_ms: 600_000 });
});
