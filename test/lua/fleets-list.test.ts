import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

const list = async (world: World) => (await world.get("/v1/fleets")).body;

test("no fleet was heard of: an empty list", async () => {
  const { status, body } = await new World().get("/v1/fleets");
  expect(status).toBe(200);
  expect(body).toEqual({ fleets: [] });
});

test("every fleet that beat, acquired or got a policy is listed by name with its counts", async () => {
  const world = new World();
  const beaten = fleetOf(world, "beaten");
  await beaten.beatMany(10);
  await lease(beaten);
  await lease(fleetOf(world, "acquired"));
  await fleetOf(world, "batch").beatMany(2);
  const ruled = fleetOf(world, "ruled");
  await ruled.policy({ classes: { normal: { ratio: 0.5 } } });
  await ruled.beatMany(8);
  await world.settle();
  expect(await list(world)).toEqual({
    fleets: [
      { fleet: "acquired", live: 0, busy: 1, capacity: 1 },
      { fleet: "batch", live: 2, busy: 0, capacity: 1 },
      { fleet: "beaten", live: 10, busy: 1, capacity: 8 },
      { fleet: "ruled", live: 8, busy: 0, capacity: 4 },
    ],
  });
});

test("counts are right from the read alone, and the same in every isolate", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat();
  await lease(fleet, { ttl_ms: 60_000 });
  await world.settle();
  world.advance(30_000);
  expect((await list(world.isolate())).fleets).toEqual([{ fleet: "render", live: 0, busy: 1, capacity: 1 }]);
});

test("a fleet that is asked about but never written to is not listed", async () => {
  const world = new World();
  await fleetOf(world, "asked").status();
  await fleetOf(world, "asked").pods();
  await world.get("/v1/fleets/asked/policy");
  await fleetOf(world, "asked").release("l/a/b//normal/1000/r");
  await world.settle();
  expect(await list(world)).toEqual({ fleets: [] });
});

test("a fleet that keeps beating stays listed, and one silent for 24 h is dropped", async () => {
  const world = new World();
  const [busy, silent] = [fleetOf(world, "busy"), fleetOf(world, "silent")];
  await silent.beat();
  for (let hour = 0; hour < 24; hour++) {
    await busy.beat();
    await world.settle();
    world.advance(3_600_000);
  }
  expect((await list(world)).fleets.map(({ fleet }: { fleet: string }) => fleet)).toEqual(["busy"]);
});

test("a key for some fleets sees only those", async () => {
  const world = new World();
  for (const name of ["elsewhere", "render"]) await fleetOf(world, name).beat();
  await world.settle();
  const { body } = await world.call("GET", "/v1/fleets", undefined, "foreign-key");
  expect(body.fleets.map(({ fleet }: { fleet: string }) => fleet)).toEqual(["elsewhere"]);
});

test("100 fleets are listed in one answer", async () => {
  const world = new World();
  await Promise.all(Array.from({ length: 100 }, (_, at) => fleetOf(world, `f${at}`).beat()));
  await world.settle();
  expect((await list(world)).fleets).toHaveLength(100);
});
