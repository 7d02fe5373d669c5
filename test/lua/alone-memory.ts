import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import type { World } from "../support/world.ts";

/** What a fleet does while its store refuses all that may add; part of `alone.test.ts`, which has a Redis of its own. */
export function memorylessFleets(newWorld: () => World): void {
  async function without(world: World, work: () => Promise<void>): Promise<void> {
    await world.redis("CONFIG", "SET", "maxmemory", "1");
    try {
      await work();
    } finally {
      await world.redis("CONFIG", "SET", "maxmemory", "0");
    }
  }

  const p0 = { pod: "p0", instance: "1" };

  /** Three pods, ten slots each, that this isolate has heard of. */
  async function open() {
    const world = newWorld();
    const fleet = fleetOf(world);
    const pods = ["p0", "p1", "p2"].map((pod) => ({ ...p0, pod, slots: 10 }));
    for (const pod of pods) await fleet.beat(pod);
    await world.settle();
    world.advance(10);
    return { world, fleet, pods };
  }

  test("slots are given back, one and several, and stay known as ended", async () => {
    const { world, fleet } = await open();
    const held = await Promise.all(
      ["r0", "r1", "r2", "r3"].map((request_id) => lease(fleet, { request_id })),
    );
    const [one = "", two = "", three = "", four = ""] = held;
    await without(world, async () => {
      expect((await fleet.release(one)).body).toEqual({ released: [one], missing: [] });
      expect((await fleet.release(one)).body).toEqual({ released: [], missing: [one] });
      expect((await fleet.release(one, two, three)).body).toEqual({ released: [two, three], missing: [one] });
      expect(await fleet.status()).toMatchObject({ live: 30, busy: 1 });
    });
    for (const request_id of ["r0", "r1", "r2"])
      expect((await fleet.acquire({ request_id })).body.code).toBe("request-ended");
    expect(await lease(fleet, { request_id: "r3" })).toBe(four);
  });

  test("known pods go on beating and renewing, alone and in batches, while a new one is refused", async () => {
    const { world, fleet, pods } = await open();
    const [first, ...others] = pods;
    const held = await lease(fleet, p0);
    await without(world, async () => {
      for (let beat = 0; beat < 5; beat++) {
        world.advance(20_000);
        expect((await fleet.beat({ ...first, leases: [held] })).body.lost).toEqual([]);
        expect((await fleet.batch("a", others)).status).toBe(200);
      }
      for (const pod of pods) {
        world.advance(1_000);
        expect((await fleet.beat(pod)).status).toBe(200);
      }
      expect((await fleet.beat({ pod: "new" })).status).toBe(503);
      expect(await fleet.status()).toMatchObject({ live: 30, busy: 1 });
    });
    expect((await fleet.beat({ pod: "new" })).status).toBe(200);
  });

  test("known pods go on through an isolate that never heard of them, and in another state or instance", async () => {
    const { world, fleet, pods } = await open();
    const [first, second, third] = pods;
    await without(world, async () => {
      for (const pod of pods) {
        const other = fleetOf(world.isolate());
        expect((await other.beat(pod)).status).toBe(200);
        expect((await other.batch("a", [{ ...pod, instance: "0" }])).body.stale).toEqual([pod.pod]);
      }
      expect((await fleet.beat({ ...first, state: "draining" })).body).toMatchObject({ live: 20 });
      expect((await fleet.beat({ ...second, instance: "2" })).body).toMatchObject({ live: 20 });
      expect((await fleetOf(world.isolate()).beat({ ...third, slots: 11 })).body).toMatchObject({ live: 21 });
      expect((await fleet.beat({ ...second })).body.code).toBe("stale-instance");
      world.advance(3_500_000);
      expect((await fleetOf(world.isolate()).beat(third)).status).toBe(200);
      expect((await fleetOf(world.isolate()).beat({ pod: "new" })).status).toBe(503);
      expect(await fleet.status()).toMatchObject({ live: 10, starting: 0, draining: 0 });
    });
  });

  test("a new pod in one call with known ones keeps none of their beats from counting", async () => {
    const { world, fleet, pods } = await open();
    await without(world, async () => {
      world.advance(20_000);
      expect((await fleet.batch("a", [...pods, { pod: "new" }])).status).toBe(200);
      expect((await fleet.batch("a", [{ pod: "newer" }, { pod: "newest" }])).status).toBe(503);
      world.advance(20_000);
      expect(await fleet.status()).toMatchObject({ live: 31 });
    });
  });

  test("a pod leaves with its leases", async () => {
    const { world, fleet } = await open();
    const held = await lease(fleet, p0);
    await without(world, async () => {
      expect((await fleet.leave(p0)).body).toEqual({ left: true, released: [held] });
      expect(await fleet.status()).toMatchObject({ live: 20, busy: 0 });
    });
  });

  test("an acquire is refused, and repeated grants one slot at most, also when its memory comes back", async () => {
    const { world, fleet } = await open();
    const held = await lease(fleet, { request_id: "had" });
    await without(world, async () => {
      for (let turn = 0; turn < 3; turn++) {
        expect((await fleet.acquire({ request_id: "new" })).status).toBe(503);
        expect((await fleet.acquire({ request_id: "had" })).status).toBe(503);
      }
      expect(await fleet.status()).toMatchObject({ busy: 1 });
    });
    expect(await lease(fleet, { request_id: "had" })).toBe(held);
    const granted = await lease(fleet, { request_id: "new" });
    expect(await lease(fleet, { request_id: "new" })).toBe(granted);
    expect(await fleet.status()).toMatchObject({ busy: 2 });
  });
}
