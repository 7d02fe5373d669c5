import { describe, expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

describe("counting", () => {
  test("a pod is live from its first beat until its ttl runs out, from the read alone", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat();
    world.advance(29_999);
    expect((await fleet.status()).live).toBe(1);
    world.advance(1);
    expect((await fleet.status()).live).toBe(0);
  });

  test("every beat starts the ttl anew", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    for (let beat = 0; beat < 5; beat++) {
      await fleet.beat();
      world.advance(29_999);
      expect((await fleet.status()).live).toBe(1);
    }
  });

  test("when the policy's ttl_ms shrinks, the next beat lasts the new ttl, with or without leases", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.policy({ ttl_ms: 600_000 });
    const held = await lease(fleet, { pod: "busy", ttl_ms: 600_000 });
    await fleet.beat({ pod: "idle" });
    await fleet.beat({ pod: "busy" });
    await fleet.policy({ ttl_ms: 10_000 });
    await fleet.beat({ pod: "idle" });
    await fleet.beat({ pod: "busy", leases: [held] });
    world.advance(10_000);
    expect((await fleet.status()).live).toBe(0);
  });

  test("the same pod name in two clusters is two pods", async () => {
    const fleet = fleetOf(new World());
    await fleet.beat({ cluster: "a", instance: "2" });
    expect((await fleet.beat({ cluster: "b", instance: "1" })).status).toBe(200);
    expect((await fleet.status()).clusters).toEqual({ a: { live: 1, busy: 0 }, b: { live: 1, busy: 0 } });
    await fleet.leave({ cluster: "a", instance: "2" });
    expect((await fleet.status()).clusters).toEqual({ b: { live: 1, busy: 0 } });
  });

  test("pods whose names begin alike, or hold every character a name may, are told apart", async () => {
    const fleet = fleetOf(new World());
    const names = ["w", "w1", "w10", "w.1", "w-1", "w_1", "W1", "9", `w${"x".repeat(252)}`];
    for (const pod of names) await fleet.beat({ pod, instance: "i" });
    expect((await fleet.status()).live).toBe(names.length);
    await fleet.leave({ pod: "w1", instance: "i" });
    expect((await fleet.status()).live).toBe(names.length - 1);
  });

  test("a pod that left or lapsed counts again from its next beat", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ instance: "1" });
    await fleet.leave({ instance: "1" });
    expect((await fleet.status()).live).toBe(0);
    expect((await fleet.beat({ instance: "1" })).status).toBe(200);
    expect((await fleet.status()).live).toBe(1);
    world.advance(40_000);
    await fleetOf(world.isolate()).beat({ instance: "1" });
    expect((await fleet.status()).live).toBe(1);
  });
});

describe("the answer", () => {
  test.each([
    [30_000, 10_000, 10_000],
    [5_000, 10_000, 1_666],
    [1_000, 1_000, 333],
    [86_400_000, 1_000, 1_000],
  ])(
    "with ttl_ms %i and heartbeat_ms %i the next beat is due in %i ms",
    async (ttl_ms, heartbeat_ms, next) => {
      const fleet = fleetOf(new World());
      await fleet.policy({ ttl_ms, heartbeat_ms });
      await fleet.beat();
      const pace = { ttl_ms, next_heartbeat_ms: next, directive: "run", lost: [] };
      expect((await fleet.beat()).body).toEqual(pace);
    },
  );

  test("live, busy and capacity come with a new pod, a new instance and a changed state, and only then", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beatMany(4, "b");
    await lease(fleet);
    const plain = { ttl_ms: 30_000, next_heartbeat_ms: 10_000, directive: "run", lost: [] };
    const joins = [
      [{}, 5],
      [{ instance: "1" }, 5],
      [{ instance: "1", state: "starting" }, 4],
      [{ instance: "1", state: "draining" }, 4],
      [{ instance: "1", state: "ready" }, 5],
      [{ instance: "2", state: "draining" }, 4],
      [{ instance: "3" }, 5],
    ] as const;
    for (const [beat, live] of joins) {
      const counts = { live, busy: 1, capacity: Math.floor(0.8 * live) };
      expect((await fleet.beat(beat)).body).toEqual({ ...plain, ...counts });
      world.advance(1);
      expect((await fleet.beat(beat)).body).toEqual(plain);
      expect((await fleetOf(world.isolate()).beat(beat)).body).toEqual(plain);
    }
  });

  test("capacity is that of the class normal", async () => {
    const fleet = fleetOf(new World());
    await fleet.policy({ classes: { high: { ratio: 1 }, normal: { ratio: 0.5 }, low: { ratio: 0.1 } } });
    await fleet.beatMany(9, "b");
    expect((await fleet.beat()).body).toMatchObject({ live: 10, capacity: 5 });
  });
});

describe("labels", () => {
  const odd = {
    gpu: "a100",
    "": "",
    "a/b": 'x"y\\z',
    "123": "true",
    n: "[]",
    "😀": "a\u0000b\n\u2028",
    constructor: "{}",
  };
  const { "": _, ...labels } = odd;

  test("come back as sent", async () => {
    const fleet = fleetOf(new World());
    await fleet.beat({ labels });
    expect((await fleet.pods()).pods[0].labels).toEqual(labels);
  });

  test("stay when later beats leave them out, also through another isolate and into another state", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ labels });
    await fleet.beat();
    await fleetOf(world.isolate()).beat();
    await fleet.beat({ state: "draining" });
    expect((await fleet.pods()).pods[0]).toMatchObject({ state: "draining", labels });
  });

  test("are those of the new instance after a restart", async () => {
    const fleet = fleetOf(new World());
    await fleet.beat({ instance: "1", labels });
    await fleet.beat({ instance: "2" });
    expect((await fleet.pods()).pods[0]).toMatchObject({ instance: "2", labels: {} });
    await fleet.beat({ instance: "3", labels: { gpu: "h100" } });
    expect((await fleet.pods()).pods[0]).toMatchObject({ instance: "3", labels: { gpu: "h100" } });
  });

  test("sixteen pairs are taken, seventeen are refused by name", async () => {
    const fleet = fleetOf(new World());
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, "x"]));
    expect((await fleet.beat({ labels: pairs(16) })).status).toBe(200);
    const refused = await fleet.beat({ labels: pairs(17) });
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0].path).toBe("labels");
  });
});
