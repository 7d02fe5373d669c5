import { expect, test } from "vitest";
import { deadlines, fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

test("a beat renews each listed lease by its own ttl_ms, and leaves the others alone", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  const short = await lease(fleet, { ttl_ms: 5_000 });
  const long = await lease(fleet, { ttl_ms: 3_600_000 });
  const unlisted = await lease(fleet, { ttl_ms: 60_000 });
  world.advance(4_000);
  expect((await fleet.beat({ leases: [short, long] })).body.lost).toEqual([]);
  expect(await deadlines(fleet)).toEqual({ [short]: 5_000, [long]: 3_600_000, [unlisted]: 56_000 });
});

test("a lease that is renewed every third of its ttl is held for as long as that goes on", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet, { ttl_ms: 3_000 });
  for (let third = 0; third < 30; third++) {
    world.advance(1_000);
    expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
    expect((await fleet.status()).busy).toBe(1);
  }
});

test("a lease that has lapsed is lost and stays lost, though nobody took the slot", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet, { ttl_ms: 2_000 });
  world.advance(1_999);
  expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
  world.advance(2_000);
  for (const isolate of [world, world.isolate()]) {
    expect((await fleetOf(isolate).beat({ leases: [held] })).body.lost).toEqual([held]);
    expect((await fleet.status()).busy).toBe(0);
  }
});

test("a released lease is lost", async () => {
  const fleet = fleetOf(new World());
  const held = await lease(fleet);
  await fleet.release(held);
  expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([held]);
  expect((await fleet.status()).busy).toBe(0);
});

test("a renewal that was on its way when its lease was released does not bring the lease back", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat();
  const held = await lease(fleet);
  const { lane, isolate } = world.faulty("holdRequest", "members");
  const late = fleetOf(isolate).beat({ leases: [held] });
  await lane.held();
  world.advance(10);
  expect((await fleet.release(held)).body.released).toEqual([held]);
  await lane.letGo();
  expect((await late).body.lost).toEqual([held]);
  expect((await fleet.status()).busy).toBe(0);
});

test("the lease of another cluster, pod or instance is lost and keeps its deadline", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10, "z");
  const others = [{ cluster: "b" }, { pod: "worker-1" }, { instance: "2" }, { instance: "10" }];
  const foreign: string[] = [];
  for (const other of others) foreign.push(await lease(fleet, other));
  const mine = await lease(fleet, { instance: "1" });
  world.advance(1_000);
  const { body } = await fleet.beat({ instance: "1", leases: [...foreign, mine] });
  expect(body.lost.sort()).toEqual([...foreign].sort());
  const left = await deadlines(fleet);
  for (const id of foreign) expect(left[id]).toBe(29_000);
  expect(left[mine]).toBe(30_000);
});

/** The id of a task's lease that nobody ever granted. */
function taskLease({ deadline = "1790000030000", claimed = "1790000000000" }): string {
  const task = ["0", "some-task", ...Array(13).fill("0")];
  return ["t/a/worker-0//normal/30000/some-queue", deadline, claimed, ...task].join("/");
}

test("an id that was never a lease is lost, whatever its text, and nothing comes to be", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat();
  const ids = [
    "p/a/worker-0//0",
    "l/a/worker-0//normal/30000/never",
    "l/a/worker-0//normal/30000/never/more",
    "l/a/worker-0//normal/1e9/r",
    "l/a/worker-0/",
    "",
    ...["x", "NaN", "", "null", "-1", "1e400"].flatMap((odd) => [
      taskLease({ deadline: odd }),
      taskLease({ claimed: odd }),
    ]),
    "l",
    "/",
    "}{",
    "😀",
    "a\u0000b",
    " ",
    "__proto__",
    "x".repeat(1_200),
  ];
  await world.settle();
  const before = await world.snapshot();
  expect((await fleet.beat({ leases: ids })).body.lost.sort()).toEqual([...ids].sort());
  expect(await world.snapshot()).toBe(before);
});

test("a lease listed twice is renewed once and is lost once", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet);
  expect((await fleet.beat({ leases: [held, held] })).body.lost).toEqual([]);
  await fleet.release(held);
  expect((await fleet.beat({ leases: [held, held] })).body.lost).toEqual([held]);
});

test("a hundred leases go in one beat, and each has its own fate", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(200, "b");
  const held: string[] = [];
  for (let at = 0; at < 100; at++) held.push(await lease(fleet, { ttl_ms: at % 2 ? 60_000 : 1_000 }));
  world.advance(1_000);
  const { body } = await fleet.beat({ leases: held });
  expect(body.lost).toEqual(held.filter((_, at) => at % 2 === 0));
  expect((await fleet.status()).busy).toBe(50);
});
