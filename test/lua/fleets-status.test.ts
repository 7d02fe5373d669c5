import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

const DEFAULTS = {
  ttl_ms: 30_000,
  heartbeat_ms: 10_000,
  lease_ttl_ms: 30_000,
  classes: { normal: { ratio: 0.8 }, high: { ratio: 1 } },
  paused: false,
};

test("an unknown fleet is 200 with zeros and the default policy, and looking makes no record of it", async () => {
  const world = new World();
  const { status, body } = await world.get("/v1/fleets/nobody");
  expect(status).toBe(200);
  expect(body).toEqual({
    fleet: "nobody",
    live: 0,
    busy: 0,
    capacity: 1,
    available: 1,
    headroom: 0,
    over_by: 0,
    starting: 0,
    draining: 0,
    classes: {
      normal: { ratio: 0.8, capacity: 1, available: 1 },
      high: { ratio: 1, capacity: 1, available: 1 },
    },
    clusters: {},
    policy: DEFAULTS,
  });
  await world.settle();
  expect(await world.snapshot()).toBe("[]");
});

test("the whole picture of a fleet", async () => {
  const fleet = fleetOf(new World());
  const classes = { normal: { ratio: 0.57 }, high: { ratio: 1 }, low: { ratio: 0.25 } };
  await fleet.policy({ classes });
  await fleet.beatMany(60, "a");
  await fleet.beatMany(40, "b");
  await fleet.beat({ cluster: "c", pod: "s", state: "starting" });
  await fleet.beat({ cluster: "c", pod: "d", state: "draining" });
  for (let taken = 0; taken < 30; taken++) await lease(fleet, { cluster: taken % 3 ? "a" : "d" });
  expect(await fleet.status()).toEqual({
    fleet: "render",
    live: 100,
    busy: 30,
    capacity: 57,
    available: 27,
    headroom: 70,
    over_by: 0,
    starting: 1,
    draining: 1,
    classes: {
      normal: { ratio: 0.57, capacity: 57, available: 27 },
      high: { ratio: 1, capacity: 100, available: 70 },
      low: { ratio: 0.25, capacity: 25, available: 0 },
    },
    clusters: { a: { live: 60, busy: 20 }, b: { live: 40, busy: 0 }, d: { live: 0, busy: 10 } },
    policy: { ...DEFAULTS, classes },
  });
});

test("available, headroom and over_by are never negative, whatever is held", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  for (let taken = 0; taken < 10; taken++) await lease(fleet, { class: "high", ttl_ms: 600_000 });
  expect(await fleet.status()).toMatchObject({ available: 0, headroom: 0, over_by: 0 });
  world.advance(30_000);
  const empty = { live: 0, busy: 10, capacity: 1, available: 0, headroom: 0, over_by: 10 };
  expect(await fleet.status()).toMatchObject(empty);
});

test("fleets whose names begin alike, or hold every character a name may, are told apart", async () => {
  const world = new World();
  const names = ["f", "f1", "f.1", "f-1", "f_1", "F", `f${"x".repeat(127)}`];
  for (const [at, name] of names.entries()) await fleetOf(world, name).beatMany(at + 1);
  for (const [at, name] of names.entries()) expect((await fleetOf(world, name).status()).live).toBe(at + 1);
});

test("above 10,000 members a status may be a second old, and no older", async () => {
  const world = new World();
  const [fleet, other] = [fleetOf(world), fleetOf(world.isolate())];
  const wide = Array.from({ length: 160 }, (_, at) => ({ pod: `p${at}`, slots: 64 }));
  await fleet.batch("a", wide);
  expect((await fleet.status()).live).toBe(10_240);
  await other.beat();
  expect([10_240, 10_241]).toContain((await fleet.status()).live);
  world.advance(1_000);
  expect((await fleet.status()).live).toBe(10_241);
});

test("below that a status is right at once, whoever changed the fleet", async () => {
  const world = new World();
  const [fleet, other] = [fleetOf(world), fleetOf(world.isolate())];
  for (let pod = 1; pod <= 5; pod++) {
    await other.beat({ pod: `p${pod}` });
    expect((await fleet.status()).live).toBe(pod);
  }
});
