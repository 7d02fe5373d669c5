import { describe, expect, test } from "vitest";
import { deadlines, fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

const HOUR = 3_600_000;

/** An older instance and a newer one, as bytes compare; undefined is an absent one, the oldest. */
const ordered: [older: string | undefined, newer: string][] = [
  [undefined, "0"],
  [undefined, "A"],
  ["1", "2"],
  ["10", "9"],
  ["9", "A"],
  ["Z", "a"],
  ["a", "aa"],
  ["a-", "a."],
  ["a.", "a0"],
  ["Z_", "Za"],
  ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"],
];

const named = (instance: string | undefined) => (instance === undefined ? {} : { instance });

describe("a newer instance of a pod", () => {
  test.each(ordered)("replaces the older at once: %s < %s", async (older, newer) => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ slots: 3, ...named(older) });
    expect((await fleet.beat(named(newer))).body).toMatchObject({ live: 1 });
    for (const isolate of [world, world.isolate()]) {
      const late = await fleetOf(isolate).beat({ slots: 3, ...named(older) });
      expect(late.status).toBe(409);
      expect(late.body.code).toBe("stale-instance");
      expect((await fleet.status()).live).toBe(1);
    }
  });

  test("replaces it in whatever state either is, so that the pod is counted once", async () => {
    const fleet = fleetOf(new World());
    const states = ["ready", "starting", "draining"];
    for (const before of states) {
      for (const after of states) {
        const pod = `${before}-${after}`;
        await fleet.beat({ pod, instance: "1", state: before, slots: 2 });
        await fleet.beat({ pod, instance: "2", state: after });
        await fleet.beat({ pod, instance: "1", state: "ready", slots: 2 });
      }
    }
    expect(await fleet.status()).toMatchObject({ live: 3, starting: 3, draining: 3 });
  });

  test("takes over through an isolate that still remembers the older one", async () => {
    const world = new World();
    const [one, other] = [fleetOf(world.isolate()), fleetOf(world.isolate())];
    for (const fleet of [one, other]) await fleet.beat({ instance: "1" });
    await one.beat({ instance: "2" });
    expect((await other.beat({ instance: "1" })).status).toBe(409);
    await other.beat({ instance: "3" });
    expect((await one.beat({ instance: "2" })).status).toBe(409);
    expect((await one.beat({ instance: "1" })).status).toBe(409);
    expect((await one.status()).live).toBe(1);
  });

  test("does not touch the pod of the same name in another cluster", async () => {
    const fleet = fleetOf(new World());
    await fleet.beat({ cluster: "b", instance: "1" });
    await fleet.beat({ cluster: "a", instance: "2" });
    expect((await fleet.beat({ cluster: "b", instance: "1" })).status).toBe(200);
    expect((await fleet.status()).live).toBe(2);
  });
});

describe("the older instance is refused", () => {
  test("while the newer is live and for an hour after, then no longer, even with no purge", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ instance: "1" });
    await fleet.beat({ instance: "2" });
    world.advance(30_000 + HOUR - 1);
    expect((await fleet.beat({ instance: "1" })).status).toBe(409);
    expect((await fleet.status()).live).toBe(0);
    world.advance(1);
    expect((await fleet.beat({ instance: "1" })).status).toBe(200);
    expect((await fleet.status()).live).toBe(1);
    expect((await fleet.beat({ instance: "2" })).body).toMatchObject({ live: 1 });
    expect((await fleet.beat({ instance: "1" })).status).toBe(409);
  });

  test("just as long with a purge", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ instance: "1" });
    await fleet.beat({ instance: "2" });
    world.advance(30_000 + HOUR - 1);
    await world.app.scheduled();
    expect((await fleet.beat({ instance: "1" })).status).toBe(409);
    world.advance(1);
    await world.app.scheduled();
    expect((await fleet.beat({ instance: "1" })).status).toBe(200);
  });

  test("for an hour after the newer left", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ instance: "1" });
    await fleet.beat({ instance: "2" });
    await fleet.leave({ instance: "2" });
    expect((await fleet.beat({ instance: "1" })).status).toBe(409);
    expect((await fleet.status()).live).toBe(0);
    world.advance(HOUR);
    expect((await fleet.beat({ instance: "1" })).status).toBe(200);
  });

  test("after the newer had changed its slots in two isolates and a purge had run", async () => {
    const world = new World();
    const [one, other] = [fleetOf(world), fleetOf(world.isolate())];
    await one.policy({ ttl_ms: HOUR / 2 });
    await one.beat({ instance: "2", slots: 1 });
    await other.beat({ instance: "2", slots: 3 });
    for (let beats = 0; beats < 5; beats++) {
      world.advance(HOUR / 2.5);
      await one.beat({ instance: "2", slots: 1 });
    }
    await world.settle();
    await world.app.scheduled();
    expect((await fleetOf(world.isolate()).beat({ instance: "1" })).status).toBe(409);
    expect((await one.status()).live).toBe(1);
  });
});

describe("what the older instance still sends touches nothing of the newer", () => {
  const restarted = async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beatMany(10, "b");
    await fleet.beat({ instance: "1" });
    const old = await lease(fleet, { instance: "1", request_id: "r1" });
    await fleet.beat({ instance: "2" });
    const fresh = await lease(fleet, { instance: "2", request_id: "r1" });
    world.advance(1_000);
    return { world, fleet, old, fresh };
  };

  test("a beat renews neither its own leases nor those of the newer", async () => {
    const { fleet, old, fresh } = await restarted();
    expect((await fleet.beat({ instance: "1", leases: [old, fresh] })).status).toBe(409);
    expect(await deadlines(fleet)).toEqual({ [old]: 29_000, [fresh]: 29_000 });
  });

  test("nor does a beat in a batch, which names the pod and reports its leases lost", async () => {
    const { fleet, old, fresh } = await restarted();
    const { body } = await fleet.batch("a", [{ pod: "worker-0", instance: "1", leases: [old, fresh] }]);
    expect(body.stale).toEqual(["worker-0"]);
    expect(body.lost.sort()).toEqual([old, fresh].sort());
    expect(await deadlines(fleet)).toEqual({ [old]: 29_000, [fresh]: 29_000 });
  });

  test("its leases run out and are not renewed by the newer either", async () => {
    const { world, fleet, old, fresh } = await restarted();
    expect((await fleet.beat({ instance: "2", leases: [old, fresh] })).body.lost).toEqual([old]);
    world.advance(29_000);
    expect(await deadlines(fleet)).toEqual({ [fresh]: 1_000 });
  });

  test("an acquire with the same request_id gives it its own lease again", async () => {
    const { fleet, old } = await restarted();
    expect(await lease(fleet, { instance: "1", request_id: "r1" })).toBe(old);
    expect((await fleet.status()).busy).toBe(2);
  });

  test("a new acquire takes a slot of its own, which it cannot renew", async () => {
    const { fleet, fresh } = await restarted();
    const late = await lease(fleet, { instance: "1" });
    expect((await fleet.beat({ instance: "1", leases: [late] })).status).toBe(409);
    expect((await fleet.beat({ instance: "2", leases: [late, fresh] })).body.lost).toEqual([late]);
  });

  test("a release ends its own lease only", async () => {
    const { fleet, old, fresh } = await restarted();
    expect((await fleet.release(old)).body).toEqual({ released: [old], missing: [] });
    expect(Object.keys(await deadlines(fleet))).toEqual([fresh]);
  });

  test("a leave releases its own leases only and takes nobody out of N", async () => {
    const { fleet, old, fresh } = await restarted();
    expect((await fleet.leave({ instance: "1" })).body).toEqual({ left: false, released: [old] });
    expect((await fleet.status()).clusters).toMatchObject({ a: { live: 1, busy: 1 } });
    expect(Object.keys(await deadlines(fleet))).toEqual([fresh]);
    expect((await fleet.leave()).body).toEqual({ left: false, released: [] });
  });
});
