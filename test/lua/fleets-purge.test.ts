import { describe, expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

const MINUTES = 60_000;
const HOUR = 3_600_000;

const key = (world: World, name: string) => `${world.prefix}:{fleet:render}:${name}`;
const size = (world: World) => world.redis<number>("ZCARD", key(world, "members"));
const records = (world: World) => world.redis<number>("HLEN", key(world, "pods"));

async function purge(world: World): Promise<void> {
  await world.settle();
  await world.app.scheduled();
}

describe("a purge", () => {
  test("drops leases that ended over ten minutes ago and keeps those that ended since", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.policy({ ttl_ms: 24 * HOUR });
    await fleet.beatMany(10);
    await lease(fleet, { ttl_ms: 1_000 });
    await fleet.release(await lease(fleet, { request_id: "r1" }));
    world.advance(10 * MINUTES);
    await lease(fleet, { ttl_ms: 1_000 });
    world.advance(2_000);
    await purge(world);
    expect(await size(world)).toBe(11);
  });

  test("drops pods that lapsed over an hour ago, with their records, and keeps those that lapsed since", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ pod: "long-gone", slots: 3, labels: { gpu: "a" } });
    await fleet.beat({ pod: "started", state: "starting" });
    await fleet.beat({ pod: "drained", state: "draining" });
    world.advance(30 * MINUTES);
    await fleet.beat({ pod: "gone" });
    world.advance(31 * MINUTES);
    await fleet.beat({ pod: "here" });
    await purge(world);
    expect(await size(world)).toBe(2);
    expect(await records(world)).toBe(2);
  });

  test("drops replaced instances at once and keeps the record of the newer", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ instance: "1", slots: 5 });
    await fleet.beat({ instance: "2" });
    await purge(world);
    expect(await size(world)).toBe(1);
    expect((await fleet.beat({ instance: "1" })).status).toBe(409);
  });

  test("keeps the record of a pod that came back in another state than the one that lapsed", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.policy({ ttl_ms: 2 * HOUR });
    await fleet.beat({ instance: "2", state: "starting", labels: { gpu: "a" } });
    world.advance(1);
    await fleet.beat({ instance: "2" });
    world.advance(119 * MINUTES);
    await purge(world);
    expect((await fleet.pods()).pods).toMatchObject([{ state: "ready", labels: { gpu: "a" } }]);
    expect((await fleetOf(world.isolate()).beat({ instance: "1" })).status).toBe(409);
  });

  test("changes no count and no answer but that of requests long ended", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beatMany(10);
    await fleet.beat({ cluster: "b", instance: "2" });
    const held = await lease(fleet, { ttl_ms: HOUR });
    const before = await fleet.status();
    await purge(world);
    expect(await fleet.status()).toEqual(before);
    expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
  });

  test("leaves a fleet that went silent with nothing in the store but a lifetime: of 48 h at most, of a history 31 days", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ labels: { gpu: "a" } });
    await lease(fleet, { ttl_ms: 24 * HOUR });
    await purge(world);
    for (const name of await world.redis<string[]>("KEYS", `${world.prefix}:*`)) {
      const ttl = await world.redis<number>("PTTL", name);
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual((name.endsWith(":history") ? 31 * 24 : 48) * HOUR);
    }
    world.advance(2 * HOUR);
    await purge(world);
    expect(await records(world)).toBe(0);
  });

  test("gives a lifetime to keys that have none", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat();
    await world.settle();
    for (const name of ["members", "pods"]) await world.redis("PERSIST", key(world, name));
    await purge(world);
    for (const name of ["members", "pods"]) {
      expect(await world.redis<number>("PTTL", key(world, name))).toBeGreaterThan(0);
    }
  });

  test("goes on past members that no release of ours made, and drops them once they have lapsed", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat();
    const odd = ["", "p", "p/", "p/a", "junk", "l/a/b", "😀", "p//x//0"];
    const bands = [0, 1e15, 2e15, 3e15];
    const lapsed = odd.flatMap((member, at) => [(bands[at % 4] as number) + world.now - 2 * HOUR, member]);
    await world.redis("ZADD", key(world, "members"), ...lapsed);
    await purge(world);
    expect(await size(world)).toBe(1);
  });
});

describe("when 20,000 leases and pods lapse together", () => {
  const crowd = async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat();
    await world.settle();
    for (let first = 0; first < 20_000; first += 2_000) {
      const at = (place: number) => first + place;
      const pods = Array.from({ length: 2_000 }, (_, place) => [world.now + 1, `p/b/w${at(place)}/1/0`]);
      const leases = Array.from({ length: 2_000 }, (_, place) => [
        1e15 + world.now + 1,
        `l/b/w${at(place)}/1/normal/1000/r`,
      ]);
      const texts = Array.from({ length: 2_000 }, (_, place) => [`b/w${at(place)}`, "p/1/1/{}"]);
      await world.redis("ZADD", key(world, "members"), ...pods.flat(), ...leases.flat());
      await world.redis("HSET", key(world, "pods"), ...texts.flat());
    }
    return { world, fleet };
  };

  test("the very next calls are right and take under a second each", async () => {
    const { world, fleet } = await crowd();
    expect(await fleet.status()).toMatchObject({ live: 20_001, busy: 20_000 });
    world.advance(2 * HOUR);
    const calls: [() => Promise<unknown>, object][] = [
      [
        async () => (await fleetOf(world.isolate()).acquire({ request_id: "r" })).body,
        { granted: true, busy: 1 },
      ],
      [() => fleet.status(), { live: 0, busy: 1, capacity: 1 }],
      [() => fleet.pods(), { next: null }],
      [async () => (await fleet.beat({ instance: "2" })).body, { live: 1, busy: 1 }],
      [async () => (await fleet.batch("b", [{ pod: "w7", instance: "2" }])).body, { stale: [] }],
      [async () => (await fleet.leave({ instance: "2" })).body, { left: true }],
      [async () => (await world.get("/v1/fleets")).body, { fleets: [{ live: 1 }] }],
    ];
    for (const [call, expected] of calls) {
      const started = performance.now();
      expect(await call()).toMatchObject(expected);
      expect(performance.now() - started).toBeLessThan(1_000);
    }
  });

  test("they are gone after a bounded number of purges, each of which takes under a second", async () => {
    const { world, fleet } = await crowd();
    world.advance(2 * HOUR);
    const before = await fleet.status();
    let purges = 0;
    while ((await size(world)) > 0) {
      const started = performance.now();
      await purge(world);
      expect(performance.now() - started).toBeLessThan(1_000);
      purges += 1;
      expect(purges).toBeLessThanOrEqual(3);
    }
    expect(await records(world)).toBe(0);
    expect(await fleet.status()).toEqual(before);
  });
});
