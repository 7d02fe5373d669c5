import { describe, expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

const DEFAULTS = {
  ttl_ms: 30_000,
  heartbeat_ms: 10_000,
  lease_ttl_ms: 30_000,
  classes: { normal: { ratio: 0.8 }, high: { ratio: 1 } },
  paused: false,
};
const path = "/v1/fleets/render/policy";

test("a fleet has the default policy until one is set", async () => {
  const { status, body } = await new World().get(path);
  expect(status).toBe(200);
  expect(body).toEqual(DEFAULTS);
});

test("PUT replaces the whole policy: what is missing takes its default", async () => {
  const world = new World();
  const classes = { normal: { ratio: 0.5 }, urgent: { ratio: 0.9 } };
  const first = { ttl_ms: 60_000, heartbeat_ms: 5_000, lease_ttl_ms: 1_000, classes, paused: true };
  expect((await world.put(path, first)).body).toEqual(first);
  expect((await world.get(path)).body).toEqual(first);
  expect((await world.put(path, { paused: true })).body).toEqual({ ...DEFAULTS, paused: true });
  expect((await world.put(path, {})).body).toEqual(DEFAULTS);
  expect((await world.isolate().get(path)).body).toEqual(DEFAULTS);
});

test.each(["payload", "result", "gold"])(
  "a class called %s whose ratio is given twice is refused",
  async (name) => {
    const world = new World();
    const headers = { authorization: "Bearer admin-key", "content-type": "application/json" };
    const body = `{"classes":{"normal":{"ratio":1},"${name}":{"ratio":0.5,"ratio":0.9}}}`;
    const answer = await world.send(path, { method: "PUT", headers, body });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: `classes.${name}.ratio` }] } });
  },
);

describe("a policy is in force", () => {
  test("at once in the isolate that set it", async () => {
    const fleet = fleetOf(new World());
    await fleet.beatMany(10);
    await fleet.status();
    await fleet.policy({ classes: { normal: { ratio: 0.3 } } });
    expect((await fleet.status()).capacity).toBe(3);
    expect((await fleet.acquire({ class: "high" })).body.code).toBe("unknown-class");
  });

  test("in every other within 5 s", async () => {
    const world = new World();
    const [fleet, other] = [fleetOf(world), fleetOf(world.isolate())];
    await fleet.beatMany(10);
    await other.status();
    await other.beat();
    await fleet.policy({ ttl_ms: 60_000, classes: { normal: { ratio: 0.3 } }, paused: true });
    world.advance(5_000);
    expect((await other.status()).capacity).toBe(3);
    expect((await other.beat()).body.ttl_ms).toBe(60_000);
    expect((await other.acquire()).body.reason).toBe("paused");
  });

  test("and asking for it shows the newest, whatever the isolate remembers", async () => {
    const world = new World();
    const [fleet, other] = [fleetOf(world), fleetOf(world.isolate())];
    await other.status();
    await fleet.policy({ ttl_ms: 60_000 });
    expect((await other.world.get(path)).body.ttl_ms).toBe(60_000);
  });

  test("for the fleet it names alone", async () => {
    const world = new World();
    await fleetOf(world, "one").policy({ paused: true });
    expect((await fleetOf(world, "other").acquire()).body.granted).toBe(true);
  });
});

test("lease_ttl_ms is what a lease lasts where acquire does not say", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ lease_ttl_ms: 5_000 });
  world.advance(5_000);
  const { body } = await fleet.acquire();
  expect(body.lease).toMatchObject({ ttl_ms: 5_000, expires_at: world.now + 5_000 });
  world.advance(5_000);
  expect((await fleet.status()).busy).toBe(0);
});

test("leases that live keep the ttl they were granted when lease_ttl_ms changes", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const held = await lease(fleet);
  await fleet.policy({ lease_ttl_ms: 1_000 });
  world.advance(10_000);
  expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
  expect((await fleet.pods()).pods[0].leases[0].expires_in_ms).toBe(30_000);
});

describe("a request repeated through an isolate that has not heard of a new lease_ttl_ms", () => {
  async function changed() {
    const world = new World();
    const [fleet, other] = [fleetOf(world), fleetOf(world.isolate())];
    await fleet.beatMany(10);
    await other.status();
    await fleet.policy({ lease_ttl_ms: 5_000 });
    return { world, fleet, other };
  }

  test("has the lease it was granted, and takes no second slot", async () => {
    const { fleet, other } = await changed();
    const { body } = await fleet.acquire({ request_id: "r1" });
    expect((await other.acquire({ request_id: "r1" })).body.lease).toEqual(body.lease);
    const older = await other.acquire({ request_id: "r2" });
    expect(older.body.lease.ttl_ms).toBe(30_000);
    expect((await fleet.acquire({ request_id: "r2" })).body.lease).toEqual(older.body.lease);
    expect((await fleet.status()).busy).toBe(2);
  });

  test("also while the fleet is full or paused", async () => {
    const { fleet, other } = await changed();
    const held = await lease(fleet, { request_id: "r1" });
    for (let taken = 1; taken < 8; taken++) await lease(fleet);
    expect(await lease(other, { request_id: "r1" })).toBe(held);
    await other.policy({ paused: true });
    expect(await lease(other, { request_id: "r1" })).toBe(held);
  });

  test("hears that it ended, once its lease was released or has lapsed", async () => {
    const { world, fleet, other } = await changed();
    await fleet.release(await lease(fleet, { request_id: "r1" }));
    await lease(fleet, { request_id: "r2" });
    world.advance(5_000 - 1);
    expect((await other.acquire({ request_id: "r1" })).body.code).toBe("request-ended");
    world.advance(1);
    expect((await other.acquire({ request_id: "r2" })).body.code).toBe("request-ended");
    expect((await fleet.status()).busy).toBe(0);
  });
});

test("lowering a ratio takes nothing from those who hold a slot", async () => {
  const fleet = fleetOf(new World());
  await fleet.beatMany(10);
  for (let taken = 0; taken < 8; taken++) await lease(fleet);
  await fleet.policy({ classes: { normal: { ratio: 0.2 } } });
  expect(await fleet.status()).toMatchObject({ busy: 8, capacity: 2, available: 0, over_by: 0 });
  expect((await fleet.acquire()).body.granted).toBe(false);
});

test("a class that is taken away leaves its leases alive and renewable", async () => {
  const fleet = fleetOf(new World());
  await fleet.beatMany(10);
  const held = await lease(fleet, { class: "high" });
  await fleet.policy({ classes: { normal: { ratio: 0.8 } } });
  expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
  expect((await fleet.pods()).pods[0].leases[0].class).toBe("high");
  expect((await fleet.release(held)).body.released).toEqual([held]);
});

describe("refused by name, with nothing changed", () => {
  test.each([
    ["classes without normal", { classes: { high: { ratio: 1 } } }, "classes"],
    ["no class at all", { classes: {} }, "classes"],
    ["a ratio of 0", { classes: { normal: { ratio: 0 } } }, "classes.normal.ratio"],
    ["a ratio under 0.0001", { classes: { normal: { ratio: 0.00009 } } }, "classes.normal.ratio"],
    ["a ratio over 1", { classes: { normal: { ratio: 1.0001 } } }, "classes.normal.ratio"],
    ["a ratio of five decimals", { classes: { normal: { ratio: 0.12345 } } }, "classes.normal.ratio"],
    ["a class named with a space", { classes: { normal: { ratio: 1 }, "a b": { ratio: 1 } } }, "classes.a b"],
    ["a class without a ratio", { classes: { normal: {} } }, "classes.normal.ratio"],
    ["a class with more than a ratio", { classes: { normal: { ratio: 1, x: 1 } } }, "classes.normal.x"],
    ["a ttl under a second", { ttl_ms: 999 }, "ttl_ms"],
    ["a ttl over a day", { ttl_ms: 86_400_001 }, "ttl_ms"],
    ["a beat over a day", { heartbeat_ms: 86_400_001 }, "heartbeat_ms"],
    ["a lease of half a millisecond more", { lease_ttl_ms: 1_000.5 }, "lease_ttl_ms"],
  ])("%s", async (_, policy, field) => {
    const world = new World();
    const { status, body } = await world.put(path, policy);
    expect(status).toBe(400);
    expect(body.errors.map((error: { path: string }) => error.path)).toContain(field);
    expect(await world.snapshot()).toBe("[]");
  });

  test("a class that objects know by another meaning", async () => {
    const world = new World();
    const { status, body } = await world.send(path, {
      method: "PUT",
      headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
      body: '{"classes":{"normal":{"ratio":1},"__proto__":{"ratio":1}}}',
    });
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe("classes.__proto__");
    expect(await world.snapshot()).toBe("[]");
  });
});

test("every ratio of four decimals is taken as it is written", async () => {
  const world = new World();
  for (const ratio of [0.0001, 0.1, 0.2899, 0.29, 0.57, 0.58, 0.5801, 0.7, 0.9999, 1]) {
    const { body } = await world.put(path, { classes: { normal: { ratio } } });
    expect(body.classes.normal.ratio).toBe(ratio);
  }
});
