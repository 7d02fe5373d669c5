import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

test("a status tells what each class holds when asked for it, tasks counted with the rest", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  await lease(fleet);
  await lease(fleet, { instance: "i1" });
  await lease(fleet, { class: "high" });
  const queue = queueOf(world);
  await queue.configure();
  await queue.enqueue({ payload: 1, class: "high" });
  await queue.claim();
  const { busy, classes } = (await world.get("/v1/fleets/render?held=true")).body;
  expect(busy).toBe(4);
  expect(classes).toMatchObject({ normal: { busy: 2 }, high: { busy: 2 } });
});

test("who is told to drain can be read, and is empty once all is taken back", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const drains = async () => (await world.get("/v1/fleets/render/drain")).body.draining;
  expect(await drains()).toEqual([]);
  await fleet.drain({ cluster: "a", drain: true });
  await fleet.drain({ cluster: "b", pod: "worker-1", drain: true });
  expect(await drains()).toHaveLength(2);
  expect(await drains()).toContainEqual({ cluster: "a" });
  await fleet.drain({ cluster: "a", drain: false });
  expect(await drains()).toEqual([{ cluster: "b", pod: "worker-1" }]);
  await fleet.drain({ cluster: "b", pod: "worker-1", drain: false });
  expect(await drains()).toEqual([]);
});

test("all queues are listed with their counts, or those of one fleet", async () => {
  const world = new World();
  await queueOf(world, "frames", "render").configure();
  await queueOf(world, "films", "transcode").configure();
  await queueOf(world, "frames").enqueue({ payload: 1 });
  await world.settle();
  const list = async (query = "") => (await world.get(`/v1/queues${query}`)).body.queues;
  expect((await list()).map(({ queue }: { queue: string }) => queue)).toEqual(["films", "frames"]);
  expect(await list("?fleet=render")).toMatchObject([{ queue: "frames", ready: 1, backlog: 1 }]);
  expect(await list("?fleet=elsewhere")).toEqual([]);
});
