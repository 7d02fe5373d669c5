import { describe, expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

describe("starting and draining pods", () => {
  test("are counted under their own figures and never in live", async () => {
    const fleet = fleetOf(new World());
    await fleet.beat({ pod: "s", state: "starting" });
    await fleet.beat({ pod: "d", state: "draining", slots: 2 });
    await fleet.beat({ pod: "r", state: "ready" });
    expect(await fleet.status()).toMatchObject({ live: 1, starting: 1, draining: 2, capacity: 1 });
  });

  test("lapse at the end of their ttl like any other", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ pod: "s", state: "starting" });
    await fleet.beat({ pod: "d", state: "draining" });
    world.advance(30_000);
    expect(await fleet.status()).toMatchObject({ live: 0, starting: 0, draining: 0 });
  });

  test("a pod counts in one state only, however it changes and whichever isolate hears it", async () => {
    const world = new World();
    const isolates = [fleetOf(world.isolate()), fleetOf(world.isolate())];
    const path = ["ready", "draining", "starting", "ready", "starting", "draining", "ready", "ready"];
    for (const [at, state] of path.entries()) {
      world.advance(1);
      await isolates[at % 2]?.beat({ state });
      const { live, starting, draining } = await fleetOf(world).status();
      const counted = { ready: live, starting, draining };
      expect(counted).toEqual({ ready: 0, starting: 0, draining: 0, [state]: 1 });
    }
  });

  test("a draining pod keeps and renews what it holds", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat();
    const held = await lease(fleet);
    world.advance(20_000);
    expect((await fleet.beat({ state: "draining", leases: [held] })).body.lost).toEqual([]);
    world.advance(20_000);
    expect(await fleet.status()).toMatchObject({ live: 0, draining: 1, busy: 1, over_by: 1 });
  });

  test("pods still loading their model do not count: N rises by one with each that is ready", async () => {
    const fleet = fleetOf(new World());
    await fleet.beatMany(4);
    for (let pod = 0; pod < 6; pod++) await fleet.beat({ pod: `new-${pod}`, state: "starting" });
    for (let ready = 0; ready < 6; ready++) {
      expect(await fleet.status()).toMatchObject({ live: 4 + ready, starting: 6 - ready });
      await fleet.beat({ pod: `new-${ready}` });
    }
    expect(await fleet.status()).toMatchObject({ live: 10, starting: 0 });
  });

  test("in a rolling update the draining pods stop counting at once while their leases count on", async () => {
    const fleet = fleetOf(new World());
    const held: string[] = [];
    for (let pod = 0; pod < 10; pod++) await fleet.beat({ pod: `old-${pod}` });
    for (let pod = 0; pod < 8; pod++) held.push(await lease(fleet, { pod: `old-${pod}` }));
    for (let pod = 0; pod < 10; pod++) {
      await fleet.beat({ pod: `new-${pod}` });
      await fleet.beat({ pod: `old-${pod}`, state: "draining" });
      expect(await fleet.status()).toMatchObject({ live: 10, busy: 8, draining: pod + 1, capacity: 8 });
      expect((await fleet.acquire({ pod: `new-${pod}` })).body.granted).toBe(false);
    }
    for (const [at, id] of held.entries()) {
      await fleet.release(id);
      await lease(fleet, { pod: `new-${at}` });
      expect((await fleet.acquire({ pod: "new-9" })).body.granted).toBe(false);
      expect((await fleet.status()).busy).toBe(8);
    }
    for (let pod = 0; pod < 10; pod++) await fleet.leave({ pod: `old-${pod}` });
    expect(await fleet.status()).toMatchObject({ live: 10, draining: 0, busy: 8 });
  });
});

describe("a pod with several slots", () => {
  test("counts as many in live, in its cluster and in the capacity", async () => {
    const fleet = fleetOf(new World());
    await fleet.beat({ slots: 64 });
    await fleet.beat({ cluster: "b", slots: 36 });
    expect(await fleet.status()).toMatchObject({
      live: 100,
      capacity: 80,
      clusters: { a: { live: 64 }, b: { live: 36 } },
    });
    expect((await fleet.pods()).pods.map(({ slots }: { slots: number }) => slots)).toEqual([64, 36]);
  });

  test("counts more at once when it gets more", async () => {
    const fleet = fleetOf(new World());
    for (const slots of [1, 2, 8, 64]) {
      await fleet.beat({ slots });
      expect((await fleet.status()).live).toBe(slots);
    }
  });

  test("counts fewer within one ttl, also where an isolate has missed the time when it had more", async () => {
    const world = new World();
    const [one, other] = [fleetOf(world), fleetOf(world.isolate())];
    await one.beat({ slots: 2 });
    world.advance(1);
    await other.beat({ slots: 5 });
    world.advance(1);
    await one.beat({ slots: 2 });
    world.advance(29_998);
    await one.beat({ slots: 2 });
    world.advance(1);
    expect((await one.status()).live).toBe(2);
    expect((await one.pods()).pods).toMatchObject([{ slots: 2 }]);
  });

  test("leaves with all of them", async () => {
    const fleet = fleetOf(new World());
    await fleet.beat({ slots: 5 });
    await fleet.beat({ pod: "s", state: "starting", slots: 5 });
    expect((await fleet.leave()).body.left).toBe(true);
    expect((await fleet.leave({ pod: "s" })).body.left).toBe(true);
    expect(await fleet.status()).toMatchObject({ live: 0, starting: 0 });
  });
});
