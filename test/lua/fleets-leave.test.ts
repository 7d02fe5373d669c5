import { expect, test } from "vitest";
import { deadlines, fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

test("a pod that leaves stops counting at once, and every lease it holds is released", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  const held = [
    await lease(fleet),
    await lease(fleet, { class: "high" }),
    await lease(fleet, { ttl_ms: 5_000 }),
  ];
  const { body } = await fleet.leave();
  expect(body.left).toBe(true);
  expect(body.released.sort()).toEqual([...held].sort());
  expect(await fleet.status()).toMatchObject({ live: 9, busy: 0 });
  expect((await fleetOf(world.isolate()).beat({ leases: held })).body.lost.sort()).toEqual([...held].sort());
});

test("leases that had lapsed or were released are not released again", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  await lease(fleet, { ttl_ms: 1_000 });
  const released = await lease(fleet);
  const live = await lease(fleet);
  await fleet.release(released);
  world.advance(1_000);
  expect((await fleet.leave()).body).toEqual({ left: true, released: [live] });
});

test("only the leases of this cluster, pod and instance are released", async () => {
  const fleet = fleetOf(new World());
  await fleet.beatMany(20, "z");
  await fleet.beat({ pod: "w", instance: "1" });
  const others = [
    { cluster: "b", pod: "w", instance: "1" },
    { pod: "w1", instance: "1" },
    { pod: "w", instance: "10" },
    { pod: "w" },
  ];
  const kept: string[] = [];
  for (const other of others) kept.push(await lease(fleet, other));
  const mine = await lease(fleet, { pod: "w", instance: "1" });
  expect((await fleet.leave({ pod: "w", instance: "1" })).body).toEqual({ left: true, released: [mine] });
  expect(Object.keys(await deadlines(fleet)).sort()).toEqual(kept.sort());
});

test("leaving again says that nobody left", async () => {
  const fleet = fleetOf(new World());
  await fleet.beat();
  await fleet.leave();
  expect((await fleet.leave()).body).toEqual({ left: false, released: [] });
});

test.each([
  ["a pod never heard of", { pod: "nobody" }],
  ["an instance that is not the one counted", { instance: "9" }],
  ["the same name in another cluster", { cluster: "b" }],
])("%s does not leave, and the pod that lives stays", async (_, who) => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat();
  await world.settle();
  const before = await world.snapshot();
  expect((await fleet.leave(who)).body).toEqual({ left: false, released: [] });
  expect(await world.snapshot()).toBe(before);
});

test("a pod that had lapsed has not left now, but what it holds is released", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat();
  const held = await lease(fleet, { ttl_ms: 600_000 });
  world.advance(30_000);
  expect((await fleet.leave()).body).toEqual({ left: false, released: [held] });
});

test("a pod that never beat releases what it holds by leaving", async () => {
  const fleet = fleetOf(new World());
  const held = await lease(fleet);
  expect((await fleet.leave()).body).toEqual({ left: false, released: [held] });
  expect((await fleet.status()).busy).toBe(0);
});

test("a pod that holds 300 leases releases them all", async () => {
  const fleet = fleetOf(new World());
  await fleet.batch(
    "z",
    Array.from({ length: 6 }, (_, at) => ({ pod: `p${at}`, slots: 64 })),
  );
  const held = await Promise.all(Array.from({ length: 300 }, () => lease(fleet)));
  const { released } = (await fleet.leave()).body;
  expect(released.sort()).toEqual(held.sort());
  expect((await fleet.status()).busy).toBe(0);
});

test("a request of a pod that left has ended", async () => {
  const fleet = fleetOf(new World());
  await lease(fleet, { request_id: "r1" });
  await fleet.leave();
  expect((await fleet.acquire({ request_id: "r1" })).body.code).toBe("request-ended");
});
