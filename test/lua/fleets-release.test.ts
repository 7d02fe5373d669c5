import { describe, expect, test } from "vitest";
import { deadlines, fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

test("a released slot is free at once, for every isolate", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet);
  expect((await fleet.release(held)).body).toEqual({ released: [held], missing: [] });
  expect((await fleet.status()).busy).toBe(0);
  expect((await fleetOf(world.isolate()).acquire()).body.granted).toBe(true);
});

test("releasing twice changes nothing and says so", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet);
  await fleet.release(held);
  const other = await lease(fleet);
  await world.settle();
  const before = await world.snapshot();
  for (const isolate of [world, world.isolate()]) {
    const again = await fleetOf(isolate).release(held);
    expect(again.body).toEqual({ released: [], missing: [held] });
  }
  expect(await world.snapshot()).toBe(before);
  expect(Object.keys(await deadlines(fleet))).toEqual([other]);
});

test("releasing late changes nothing and says so, from the very millisecond of the deadline", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(5);
  const [one, two] = [await lease(fleet, { ttl_ms: 1_000 }), await lease(fleet, { ttl_ms: 1_000 })];
  world.advance(999);
  expect((await fleet.release(one)).body.released).toEqual([one]);
  world.advance(1);
  await world.settle();
  const before = await world.snapshot();
  expect((await fleet.release(two)).body).toEqual({ released: [], missing: [two] });
  expect((await fleet.release(one, two)).body).toEqual({ released: [], missing: [one, two] });
  expect(await world.snapshot()).toBe(before);
});

test("whoever knows the id may release it", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet, { cluster: "b", pod: "other", instance: "7" });
  const heard = await world.call("POST", "/v1/fleets/render/release", { leases: [held] }, "worker-key");
  expect(heard.body.released).toEqual([held]);
});

test("each lease of a call has its own fate: one that lapsed does not keep the others", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  const lapsed = await lease(fleet, { ttl_ms: 1_000 });
  const [two, three] = [await lease(fleet), await lease(fleet)];
  world.advance(1_500);
  const { status, body } = await fleet.release(lapsed, two, "never", three, two);
  expect(status).toBe(200);
  expect(body).toEqual({ released: [two, three], missing: [lapsed, "never"] });
  expect((await fleet.status()).busy).toBe(0);
});

test("a lease of another fleet is missing here and lives on there", async () => {
  const world = new World();
  const [fleet, other] = [fleetOf(world), fleetOf(world, "other")];
  const held = await lease(other);
  expect((await fleet.release(held)).body.missing).toEqual([held]);
  expect((await other.status()).busy).toBe(1);
});

test("256 leases end in one call", async () => {
  const fleet = fleetOf(new World());
  await fleet.batch("a", [
    { pod: "p", slots: 64 },
    ...Array.from({ length: 4 }, (_, at) => ({ pod: `q${at}`, slots: 64 })),
  ]);
  const held = await Promise.all(Array.from({ length: 256 }, () => lease(fleet)));
  expect((await fleet.release(...held)).body.released).toHaveLength(256);
  expect((await fleet.status()).busy).toBe(0);
});

test("a request whose lease was released has ended, for as long as ten minutes and a purge", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.release(await lease(fleet, { request_id: "r1" }));
  world.advance(600_000 - 1);
  await world.settle();
  await world.app.scheduled();
  const late = await fleet.acquire({ request_id: "r1" });
  expect(late.status).toBe(409);
  expect(late.body.code).toBe("request-ended");
});

test("an acquire that was on its way when its lease was released does not give that lease again", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet, { request_id: "r1" });
  const { lane, isolate } = world.faulty("holdRequest", "members");
  const late = fleetOf(isolate).acquire({ request_id: "r1" });
  await lane.held();
  world.advance(10);
  await fleet.release(held);
  await lane.letGo();
  expect((await late).body.code).toBe("request-ended");
});

describe("what is no lease is missing and ends nothing", () => {
  test.each([
    ["a pod's own member of the set", "p/a/worker-0//0"],
    ["a lease that was never taken", "l/a/worker-0//normal/30000/never"],
    ["a text with parts too many", "l/a/worker-0//normal/30000/r/more"],
    ["braces", "}{"],
    ["an emoji", "😀"],
    ["NUL", "a\u0000b"],
    ["white space", " "],
    ["no text at all", ""],
    ["a word that objects know", "__proto__"],
    ["JSON", '{"a":1}'],
    ["1,200 bytes", "x".repeat(1_200)],
  ])("%s", async (_, id) => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat();
    const held = await lease(fleet);
    await world.settle();
    const before = await world.snapshot();
    expect((await fleet.release(id)).body).toEqual({ released: [], missing: [id] });
    expect(await world.snapshot()).toBe(before);
    expect((await fleet.release(id, held)).body).toEqual({ released: [held], missing: [id] });
    expect(await fleet.status()).toMatchObject({ live: 1, busy: 0 });
  });
});
