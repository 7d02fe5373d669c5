import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

/** floor(r · N) with N and r as a person would work it out; DESIGN 1.2. */
const expected: [live: number, ratio: number, capacity: number][] = [
  ...Array.from({ length: 13 }, (_, live): [number, number, number] => [
    live,
    0.8,
    [1, 1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9][live] as number,
  ]),
  [15, 0.8, 12],
  [25, 0.8, 20],
  [35, 0.8, 28],
  [100, 0.8, 80],
  [100, 0.29, 29],
  [100, 0.57, 57],
  [100, 0.58, 58],
  [90, 0.7, 63],
  [10, 0.7, 7],
  [3, 0.0001, 1],
];

test.each(expected)(
  "with %i pods and ratio %d exactly %i slots are granted",
  async (live, ratio, capacity) => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.policy({ classes: { normal: { ratio }, high: { ratio: 1 } } });
    await fleet.beatMany(live);
    for (let slot = 1; slot <= capacity; slot++) {
      const { body } = await fleet.acquire();
      expect(body).toMatchObject({ granted: true, live, busy: slot, capacity });
    }
    const { status, body } = await fleet.acquire();
    expect(status).toBe(200);
    expect(body).toMatchObject({ granted: false, reason: "at_capacity", live, busy: capacity, capacity });
    expect(body.retry_after_ms).toBeGreaterThanOrEqual(250);
  },
);

test("high takes the reserve that normal leaves, and both share one busy set", async () => {
  const fleet = fleetOf(new World());
  await fleet.beatMany(10);
  for (let slot = 0; slot < 8; slot++) await fleet.acquire();
  expect((await fleet.acquire()).body.granted).toBe(false);
  expect((await fleet.acquire({ class: "high" })).body).toMatchObject({
    granted: true,
    busy: 9,
    capacity: 10,
  });
  expect((await fleet.acquire({ class: "high" })).body).toMatchObject({
    granted: true,
    busy: 10,
    capacity: 10,
  });
  expect((await fleet.acquire({ class: "high" })).body).toMatchObject({
    granted: false,
    busy: 10,
    capacity: 10,
  });
});

test("the same request_id gives the same lease, also at capacity and with another isolate", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const first = await fleet.acquire({ request_id: "r1" });
  const again = await fleet.acquire({ request_id: "r1" });
  const elsewhere = await fleetOf(world.isolate()).acquire({ request_id: "r1" });
  expect(first.body.granted).toBe(true);
  expect(again.body.lease).toEqual(first.body.lease);
  expect(elsewhere.body.lease).toEqual(first.body.lease);
  expect((await fleet.status()).busy).toBe(1);
});

test("a request_id keeps its lease when the default ttl changes before the retry", async () => {
  const fleet = fleetOf(new World());
  await fleet.beatMany(10);
  const first = await fleet.acquire({ request_id: "r1" });
  await fleet.policy({ lease_ttl_ms: 5_000 });
  const again = await fleet.acquire({ request_id: "r1" });
  expect(again.body.lease).toEqual(first.body.lease);
  expect((await fleet.status()).busy).toBe(1);
});

test("a request_id is free again after a denial, and ended after a release or a lapse", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet);
  expect((await fleet.acquire({ request_id: "r1" })).body.granted).toBe(false);
  await fleet.release(held);
  const granted = await lease(fleet, { request_id: "r1" });
  await fleet.release(granted);
  expect((await fleet.acquire({ request_id: "r1" })).body.code).toBe("request-ended");

  await lease(fleet, { request_id: "r2" });
  world.advance(30_000);
  const late = await fleet.acquire({ request_id: "r2" });
  expect(late.status).toBe(409);
  expect(late.body.code).toBe("request-ended");
  expect((await fleet.status()).busy).toBe(0);
});

test("a request_id is scoped to cluster, pod and instance", async () => {
  const fleet = fleetOf(new World());
  await fleet.beatMany(10);
  const calls = [{}, { cluster: "b" }, { pod: "other" }, { instance: "2" }];
  const ids = new Set();
  for (const call of calls) ids.add(await lease(fleet, { request_id: "r1", ...call }));
  expect(ids.size).toBe(4);
});

test("a lease lapses at its own deadline and the slot is free from the read alone", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await lease(fleet, { ttl_ms: 2_000 });
  world.advance(1_999);
  expect((await fleet.acquire()).body.granted).toBe(false);
  world.advance(1);
  expect((await fleet.status()).busy).toBe(0);
  expect((await fleetOf(world.isolate()).acquire()).body.granted).toBe(true);
});

test("when the fleet shrinks below busy nobody is evicted, grants wait, and over_by says by how much", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  const held: string[] = [];
  for (let slot = 0; slot < 8; slot++) held.push(await lease(fleet, { ttl_ms: 600_000 }));
  world.advance(25_000);
  await fleet.beatMany(4);
  world.advance(10_000);
  const shrunk = { live: 4, busy: 8, capacity: 3, available: 0, headroom: 0, over_by: 4 };
  expect(await fleet.status()).toMatchObject(shrunk);
  expect((await fleet.acquire()).body.granted).toBe(false);
  expect((await fleet.acquire({ class: "high" })).body.granted).toBe(false);
  for (const id of held.slice(0, 5)) await fleet.release(id);
  expect((await fleet.acquire()).body.granted).toBe(false);
  await fleet.release(held[5] as string);
  expect((await fleet.acquire()).body.granted).toBe(true);
});

test("paused stops grants, not repeats or renewals", async () => {
  const fleet = fleetOf(new World());
  await fleet.beatMany(5);
  const held = await lease(fleet, { request_id: "r1" });
  await fleet.policy({ paused: true });
  const refused = await fleet.acquire();
  expect(refused.body).toEqual({ granted: false, reason: "paused", retry_after_ms: expect.any(Number) });
  expect((await fleet.acquire({ request_id: "r2" })).body.reason).toBe("paused");
  expect((await fleet.acquire({ request_id: "r1" })).body.lease.id).toBe(held);
  expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
});

test("a class that the policy lacks is refused by name", async () => {
  const { status, body } = await fleetOf(new World()).acquire({ class: "urgent" });
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: "unknown-class", errors: [{ path: "class" }] });
});

test("a class named like a property of every object is unknown, not found by accident", async () => {
  expect((await fleetOf(new World()).acquire({ class: "constructor" })).body.code).toBe("unknown-class");
});

test("300 parallel acquires through several isolates never go over capacity", async () => {
  const world = new World();
  await fleetOf(world).beatMany(10);
  const isolates = Array.from({ length: 6 }, () => fleetOf(world.isolate()));
  const calls = Array.from({ length: 300 }, (_, call) =>
    isolates[call % 6]?.acquire({ class: call % 3 === 0 ? "high" : "normal" }).then(({ status, body }) => {
      expect(status).toBe(200);
      return body;
    }),
  );
  const bodies = await Promise.all(calls);
  const granted = bodies.filter(({ granted }) => granted);
  expect(granted).toHaveLength(10);
  for (const { live, busy, capacity } of granted) {
    expect(live).toBe(10);
    expect(busy).toBeLessThanOrEqual(capacity);
  }
  expect(granted.filter(({ lease }) => lease.class === "normal").length).toBeLessThanOrEqual(8);
});

test("wait_ms waits for a slot and holds nothing meanwhile", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await lease(fleet, { ttl_ms: 3_000 });
  const before = world.now;
  const { body } = await fleet.acquire({ wait_ms: 10_000 });
  expect(body.granted).toBe(true);
  expect(world.now - before).toBeGreaterThanOrEqual(3_000);
  expect(world.now - before).toBeLessThan(5_000);
});

test("a wait that runs out says no, within wait_ms and 40 polls", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await lease(fleet, { ttl_ms: 600_000 });
  const before = world.now;
  expect((await fleet.acquire({ wait_ms: 25_000 })).body).toMatchObject({
    granted: false,
    reason: "at_capacity",
  });
  expect(world.now - before).toBe(25_000);
});
