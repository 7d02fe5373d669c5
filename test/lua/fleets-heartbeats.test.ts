import { describe, expect, test } from "vitest";
import { deadlines, fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

const named = (count: number, more = {}) =>
  Array.from({ length: count }, (_, at) => ({ pod: `worker-${at}`, ...more }));

test("one call beats for 500 pods, and answers its pace and nothing of the fleet's counts", async () => {
  const fleet = fleetOf(new World());
  const { status, body } = await fleet.batch("a", named(500));
  expect(status).toBe(200);
  expect(body).toEqual({ ttl_ms: 30_000, next_heartbeat_ms: 10_000, lost: [], drain: [], stale: [] });
  expect((await fleet.status()).live).toBe(500);
});

test("pods of one call are as those that beat alone: state, slots, instance, ttl", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat({ pod: "w1", instance: "1" });
  await fleet.batch("a", [
    { pod: "w1", instance: "2", slots: 3 },
    { pod: "w2", state: "starting" },
    { pod: "w3", state: "draining", slots: 2 },
    { pod: "w4" },
  ]);
  expect(await fleet.status()).toMatchObject({ live: 4, starting: 1, draining: 2 });
  expect((await fleet.beat({ pod: "w1", instance: "1" })).status).toBe(409);
  world.advance(1);
  expect((await fleet.beat({ pod: "w4" })).body.live).toBeUndefined();
  world.advance(29_999);
  expect(await fleet.status()).toMatchObject({ live: 1, starting: 0, draining: 0 });
});

test("a pod's labels from its own beat outlive the calls that carry none", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat({ labels: { gpu: "a100" } });
  await fleetOf(world.isolate()).batch("a", [{ pod: "worker-0", state: "draining" }]);
  expect((await fleet.pods()).pods[0]).toMatchObject({ state: "draining", labels: { gpu: "a100" } });
});

test("stale pods are named, and the others of the call count all the same", async () => {
  const fleet = fleetOf(new World());
  await fleet.batch("a", named(6, { instance: "2" }));
  const pods = [...named(3, { instance: "1" }), { pod: "worker-9" }, { pod: "worker-5", instance: "3" }];
  const { status, body } = await fleet.batch("a", pods);
  expect(status).toBe(200);
  expect(body).toMatchObject({ stale: ["worker-0", "worker-1", "worker-2"], lost: [] });
  expect((await fleet.status()).live).toBe(7);
  expect((await fleet.beat({ pod: "worker-5", instance: "2" })).status).toBe(409);
});

test("leases are renewed for the pod that lists them; another pod's are lost and unchanged", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.batch("a", named(10));
  const [own, other] = [await lease(fleet, { ttl_ms: 5_000 }), await lease(fleet, { pod: "worker-1" })];
  world.advance(1_000);
  const pods = [
    { pod: "worker-0", leases: [own, other] },
    { pod: "worker-1", leases: [] },
  ];
  expect((await fleet.batch("a", pods)).body.lost).toEqual([other]);
  expect(await deadlines(fleet)).toEqual({ [own]: 5_000, [other]: 29_000 });
});

test("2,000 leases of 500 pods are renewed in one call, each once, and the lapsed are lost", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = named(500).map(({ pod }, at) => {
    const ttl_ms = at % 5 === 0 ? 1_000 : 60_000;
    return { pod, ttl_ms, leases: [1, 2, 3, 4].map((turn) => `l/a/${pod}//normal/${ttl_ms}/r${turn}`) };
  });
  const entries = held.flatMap(({ ttl_ms, leases }) =>
    leases.flatMap((id) => [1e15 + world.now + ttl_ms, id]),
  );
  await world.redis("ZADD", `${world.prefix}:{fleet:render}:members`, ...entries);
  world.advance(1_000);
  const { body } = await fleet.batch(
    "a",
    held.map(({ pod, leases }) => ({ pod, leases })),
  );
  expect(body.lost).toEqual(held.filter(({ ttl_ms }) => ttl_ms === 1_000).flatMap(({ leases }) => leases));
  const left = Object.values(await deadlines(fleet));
  expect(left).toHaveLength(1_600);
  expect(new Set(left)).toEqual(new Set([60_000]));
});

test("500 pods of 64 slots with all their state changed beat in one call", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const started = performance.now();
  await fleet.batch("a", named(500, { slots: 64, instance: "1" }));
  await fleet.batch("a", named(500, { slots: 64, instance: "2" }));
  world.advance(1);
  expect((await fleet.batch("a", named(500, { slots: 64, instance: "2" }))).body.stale).toEqual([]);
  expect((await fleet.status()).live).toBe(32_000);
  expect(performance.now() - started).toBeLessThan(5_000);
});

describe("refused by name, with nothing changed", () => {
  test.each([
    ["501 pods", { cluster: "a", pods: named(501) }, "pods"],
    ["no pods", { cluster: "a", pods: [] }, "pods"],
    ["a pod named twice", { cluster: "a", pods: [...named(2), { pod: "worker-1" }] }, "pods.2.pod"],
    [
      "2,001 leases",
      { cluster: "a", pods: [...named(20, { leases: Array(100).fill("x") }), { pod: "p", leases: ["x"] }] },
      "pods",
    ],
    [
      "101 leases of one pod",
      { cluster: "a", pods: [{ pod: "p", leases: Array(101).fill("x") }] },
      "pods.0.leases",
    ],
  ])("%s", async (_, body, path) => {
    const world = new World();
    const heard = await world.post("/v1/fleets/render/heartbeats", body);
    expect(heard.status).toBe(400);
    expect(heard.body.errors.map((error: { path: string }) => error.path)).toContain(path);
    expect(await world.snapshot()).toBe("[]");
  });
});
