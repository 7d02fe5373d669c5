import { expect, test } from "vitest";
import { deadlines, fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

test("a pod killed while holding the only slot frees it after its ttl, with no call in between", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 2_000, lease_ttl_ms: 2_000 });
  await fleet.beat();
  world.advance(5_000);
  await fleet.beat();
  await lease(fleet);
  world.advance(2_000);
  expect((await fleetOf(world.isolate()).acquire({ pod: "other" })).body.granted).toBe(true);
});

test("pods that died do not count, from the read alone: of ten that beat one is left, then none", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  world.advance(20_000);
  await fleet.beat({ pod: "worker-3" });
  world.advance(10_500);
  expect((await fleetOf(world.isolate()).status()).live).toBe(1);
  world.advance(30_500);
  expect((await fleetOf(world.isolate()).status()).live).toBe(0);
});

test("a pod whose beats stall drops out of N while its lease is renewed by others, and comes back", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(5, "b");
  await fleet.beat();
  const held = await lease(fleet, { ttl_ms: 600_000 });
  world.advance(90_000);
  expect(await fleet.status()).toMatchObject({ live: 0, busy: 1, clusters: { a: { live: 0, busy: 1 } } });
  expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
  expect(await fleet.status()).toMatchObject({ live: 1, busy: 1 });
  expect(await deadlines(fleet)).toEqual({ [held]: 600_000 });
});

test("a lease that is not renewed lapses on time although its pod looks alive", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await lease(fleet, { ttl_ms: 10_000 });
  for (let beat = 0; beat < 10; beat++) {
    world.advance(1_000);
    await fleet.beat();
  }
  expect(await fleet.status()).toMatchObject({ live: 1, busy: 0 });
});

test("the class recorded at the grant decides: whatever order they end in, 8 and 10 can be reached again", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 600_000 });
  await fleet.beatMany(10);
  const normal: string[] = [];
  for (let slot = 0; slot < 8; slot++) normal.push(await lease(fleet, { ttl_ms: slot ? 60_000 : 1_000 }));
  const high = [await lease(fleet, { class: "high" }), await lease(fleet, { class: "high" })];
  await fleet.release(...high);
  world.advance(1_000);
  const shown = (await fleet.pods()).pods.flatMap(({ leases }: { leases: { class: string }[] }) => leases);
  expect(shown.map((one: { class: string }) => one.class)).toEqual(Array(7).fill("normal"));

  for (let pod = 6; pod < 10; pod++) await fleet.beat({ pod: `worker-${pod}`, state: "draining" });
  expect(await fleet.status()).toMatchObject({ live: 6, busy: 7, over_by: 1 });
  for (let pod = 6; pod < 10; pod++) await fleet.beat({ pod: `worker-${pod}` });
  world.advance(60_000);

  expect((await fleet.status()).busy).toBe(0);
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  expect((await fleet.acquire()).body.granted).toBe(false);
  for (let slot = 0; slot < 2; slot++) await lease(fleet, { class: "high" });
  expect((await fleet.acquire({ class: "high" })).body.granted).toBe(false);
});

test("normal callers never enter the reserve, even when it is idle and they have waited long", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 600_000 });
  await fleet.beatMany(10);
  for (let slot = 0; slot < 8; slot++) await lease(fleet, { ttl_ms: 600_000 });
  expect((await fleet.acquire({ wait_ms: 25_000, attempt: 9 })).body.granted).toBe(false);
  expect((await fleet.status()).headroom).toBe(2);
  expect((await fleet.acquire({ class: "high" })).body.granted).toBe(true);
});
