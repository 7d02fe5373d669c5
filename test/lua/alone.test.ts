import { beforeAll, describe, expect, inject, test } from "vitest";
import { fleetOf, lease, type TestFleet } from "../support/fleet.ts";
import { World } from "../support/world.ts";
import { filterBudgets, limitBudgets } from "./alone-limits.ts";
import { memorylessFleets } from "./alone-memory.ts";
import { operateBudgets } from "./alone-operate.ts";
import { queueBudgets } from "./alone-queues.ts";

// This file alone uses this Redis: it counts every command and wipes the database.
const newWorld = () => new World({ restUrl: inject("aloneUrl") });

const NOT_OURS = ["info", "config", "client", "cluster", "hello", "ping", "command", "auth", "select"];

/** Commands billed while `work` ran: each one sent, and each redis.call inside a script. */
async function billed(world: World, work: () => Promise<unknown>): Promise<number> {
  await world.settle();
  await world.redis("CONFIG", "RESETSTAT");
  await work();
  await world.settle();
  const text = await world.redis<string>("INFO", "commandstats");
  const counts = [...text.matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g)];
  return counts
    .filter(([, name = ""]) => !NOT_OURS.includes(name.split("|", 1)[0] ?? ""))
    .reduce((sum, [, , calls]) => sum + Number(calls), 0);
}

describe("billed commands of an operation, store warm (DESIGN 6)", () => {
  let world: World;
  let fleet: TestFleet;

  beforeAll(async () => {
    world = newWorld();
    fleet = fleetOf(world);
    // Scripts known to the store, configuration in memory, the fleet registered.
    await fleet.beatMany(10, "warm");
    await fleet.beat({ pod: "warm" });
    const [one, two, three] = [await lease(fleet), await lease(fleet), await lease(fleet)];
    await fleet.release(one);
    await fleet.release(two, three);
    await fleet.leave({ pod: "warm" });
    await world.settle();
  });

  test("a heartbeat of a known idle pod costs 2, whatever its state, and however many slots it has", async () => {
    for (const state of ["ready", "starting", "draining"]) {
      await fleet.beat({ pod: state, state, slots: 4 });
      world.advance(10);
      expect(await billed(world, () => fleet.beat({ pod: state, state, slots: 4 }))).toBe(2);
    }
  });

  test("a heartbeat with leases costs 3", async () => {
    await fleet.beat();
    const leases = [await lease(fleet), await lease(fleet)];
    world.advance(10);
    expect(await billed(world, () => fleet.beat({ leases }))).toBe(3);
    await fleet.release(...leases);
  });

  test("a heartbeat that joins costs 5, and one that replaces an older instance 6", async () => {
    expect(await billed(world, () => fleet.beat({ pod: "new", instance: "1", labels: { gpu: "a" } }))).toBe(
      5,
    );
    expect(await billed(world, () => fleet.beat({ pod: "new", instance: "2", slots: 3 }))).toBe(6);
  });

  test("500 heartbeats in one call cost 2, and 3 with leases", async () => {
    const pods = Array.from({ length: 500 }, (_, at) => ({ pod: `many-${at}` }));
    await fleet.batch("b", pods);
    world.advance(10);
    expect(await billed(world, () => fleet.batch("b", pods))).toBe(2);
    const held = await lease(fleet, { cluster: "b", pod: "many-7" });
    const withLease = pods.map((pod) => (pod.pod === "many-7" ? { ...pod, leases: [held] } : pod));
    world.advance(10);
    expect(await billed(world, () => fleet.batch("b", withLease))).toBe(3);
  });

  test("an acquire costs 4 granted, 4 denied, 0 from memory, 5 repeated; a release 2, or 3 for several", async () => {
    const small = fleetOf(world, "small");
    await small.beat();
    await small.release(await lease(small));
    let held = "";
    const granted = async () => {
      held = await lease(small, { request_id: "r1" });
    };
    expect(await billed(world, granted)).toBe(4);
    expect(await billed(world, () => small.acquire({ request_id: "r2" }))).toBe(4);
    expect(await billed(world, () => small.acquire())).toBe(0);
    expect(await billed(world, () => small.acquire({ request_id: "r2" }))).toBe(0);
    expect(await billed(world, () => small.acquire({ request_id: "r1" }))).toBe(4);
    await small.beatMany(5, "more");
    expect(await billed(world, () => small.acquire({ request_id: "r1" }))).toBe(5);
    const other = await lease(small);
    expect(await billed(world, () => small.release(held))).toBe(2);
    expect(await billed(world, () => small.release(other, held))).toBe(3);
  });

  test("an acquire costs no more in a fleet whose default ttl was changed", async () => {
    const changed = fleetOf(world, "changed");
    await changed.beatMany(10);
    await changed.policy({ lease_ttl_ms: 5_000 });
    await changed.status();
    expect(await billed(world, () => lease(changed, { request_id: "r1" }))).toBe(4);
    expect(await billed(world, () => lease(changed, { request_id: "r1" }))).toBe(5);
  });

  test("leave costs 4 and one trip", async () => {
    await fleet.beat({ pod: "going" });
    await lease(fleet, { pod: "going" });
    expect(await billed(world, () => fleet.leave({ pod: "going" }))).toBe(4);
  });

  test("what a heartbeat costs does not grow with the fleet", async () => {
    const large = fleetOf(world, "large");
    await large.beatMany(5_000);
    await large.beat({ pod: "one" });
    await world.settle();
    world.advance(10);
    expect(await billed(world, () => large.beat({ pod: "one" }))).toBe(2);
    expect(await billed(world, () => large.acquire())).toBe(4);
  });
});

describe("billed commands of limits, configuration in memory (DESIGN 6)", () =>
  limitBudgets(newWorld, billed));

describe("billed commands of tasks", () => queueBudgets(newWorld, billed));
describe("billed commands of filters", () => filterBudgets(newWorld, billed));
describe("billed commands of what an operator reads", () => operateBudgets(newWorld, billed));

describe("a store that has no memory left", () => memorylessFleets(newWorld));

describe("a store that forgets", () => {
  test("after FLUSHALL the fleet has counted itself again within one heartbeat and wiped leases are lost", async () => {
    const world = newWorld();
    const fleet = fleetOf(world);
    const pods = ["p1", "p2", "p3", "p4", "p5"];
    for (const pod of pods) await fleet.beat({ pod, instance: "1" });
    const held = [await lease(fleet), await lease(fleet), await lease(fleet)];
    await world.redis("FLUSHALL");
    world.advance(10_000);
    for (const pod of pods) expect((await fleet.beat({ pod, instance: "1" })).status).toBe(200);
    expect((await fleet.beat({ leases: held })).body.lost).toEqual(held);
    expect(await fleet.status()).toMatchObject({ live: 6, busy: 0 });
    expect(await lease(fleet)).toBeTruthy();
  });

  test("SCRIPT FLUSH before every call changes nothing that a caller sees", async () => {
    const world = newWorld();
    const fleet = fleetOf(world);
    const flush = () => world.redis("SCRIPT", "FLUSH");
    await flush();
    expect((await fleet.beat()).status).toBe(200);
    await flush();
    const held = await lease(fleet, { request_id: "r1" });
    await flush();
    expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
    await flush();
    expect(await fleet.status()).toMatchObject({ live: 1, busy: 1 });
    await flush();
    expect((await fleet.release(held)).body.released).toEqual([held]);
    await flush();
    expect((await fleet.leave()).body.left).toBe(true);
  });

  test("with each single key deleted in turn the fleet works again within one ttl", async () => {
    const world = newWorld();
    const fleet = fleetOf(world);
    await fleet.policy({});
    await fleet.drain({ pod: "nobody", drain: true });
    await fleet.beat({ instance: "1" });
    await world.settle();
    const names = await world.redis<string[]>("KEYS", `${world.prefix}:*`);
    expect(names).toHaveLength(5);
    for (const name of names) {
      await fleet.beat({ instance: "1", leases: [] });
      await fleet.acquire();
      await world.redis("DEL", name);
      world.advance(10_000);
      await fleet.beat({ instance: "1" });
      expect((await fleet.status()).live).toBe(1);
      world.advance(30_000);
      await fleet.beat({ instance: "1" });
      const held = await lease(fleet);
      expect(await fleet.status()).toMatchObject({ live: 1, busy: 1, capacity: 1 });
      await fleet.release(held);
    }
  });
});
