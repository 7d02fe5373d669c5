import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

const MINUTE = 60_000;

/** The totals of a fleet as they stand in the store; numbers by field. */
async function totals(world: World, fleet = "render"): Promise<Record<string, number>> {
  const flat = await world.redis<string[]>("HGETALL", `${world.prefix}:{fleet:${fleet}}:history`);
  return Object.fromEntries(
    Array.from({ length: flat.length / 2 }, (_, at) => [flat[at * 2], Number(flat[at * 2 + 1])]),
  );
}

test("what a minute counted is written with a later call, and once", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat();
  const held = await lease(fleet);
  await fleet.acquire();
  await fleet.acquire();
  await world.settle();
  expect(await totals(world)).toEqual({});
  world.advance(4_000);
  await fleet.release(held);
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  const written = { grants: 1, "denials/at_capacity": 2, "held/5000": 1, held_ms: 4_000 };
  expect(await totals(world)).toEqual(written);
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  expect(await totals(world)).toEqual(written);
});

test("what a fleet that fell silent counted is written with a later call of another", async () => {
  const world = new World();
  await lease(fleetOf(world, "silent"));
  world.advance(MINUTE);
  await fleetOf(world).beat();
  await world.settle();
  expect(await totals(world, "silent")).toEqual({ grants: 1 });
});

test("however many fleets came once and went, those that come later are counted", async () => {
  const world = new World();
  for (let at = 0; at < 2_050; at += 50)
    await Promise.all(Array.from({ length: 50 }, (_, one) => fleetOf(world, `once-${at + one}`).acquire()));
  for (let minute = 0; minute < 45; minute++) {
    world.advance(MINUTE);
    await fleetOf(world).beat();
    await world.settle();
  }
  await lease(fleetOf(world));
  world.advance(MINUTE);
  await fleetOf(world).beat();
  await world.settle();
  expect(await totals(world)).toEqual({ grants: 1 });
  expect((await totals(world, "once-1900")).grants).toBe(1);
}, 120_000);

test("the counts of several isolates add up, and a repeat of a request counts once", async () => {
  const world = new World();
  const other = world.isolate();
  const fleets = [fleetOf(world), fleetOf(other)];
  await fleets[0]?.beatMany(10);
  for (const fleet of fleets) {
    await lease(fleet, { request_id: `r-${fleets.indexOf(fleet)}` });
    await lease(fleet, { request_id: `r-${fleets.indexOf(fleet)}` });
  }
  world.advance(MINUTE);
  for (const fleet of fleets) await fleet.beat();
  await world.settle();
  await other.settle();
  expect(await totals(world)).toEqual({ grants: 2 });
});

test("counts that could not be written wait for the next minute", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const key = `${world.prefix}:{fleet:render}:history`;
  await world.redis("SET", key, "of another type");
  await lease(fleet);
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  await world.redis("DEL", key);
  await lease(fleet);
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  expect(await totals(world)).toEqual({ grants: 2 });
});

test("tasks are grants, their end tells exactly how long they were held, and an empty queue denies nobody", async () => {
  const world = new World();
  const queue = queueOf(world);
  const fleet = fleetOf(world);
  await queue.configure();
  await queue.claim();
  for (let at = 0; at < 3; at++) await queue.enqueue();
  const task = await claimOne(queue);
  await queue.claim();
  world.advance(20_000);
  await queueOf(world.isolate()).complete(task.lease.id);
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  expect(await totals(world)).toEqual({ grants: 1, "denials/at_capacity": 1 });
});

test("the time that waiting calls waited is counted", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await lease(fleet, { wait_ms: 1_000 });
  await fleet.acquire({ pod: "late", wait_ms: 1_000 });
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  expect(await totals(world)).toEqual({ grants: 1, "denials/at_capacity": 1, waits: 2, waited_ms: 1_000 });
});

test("totals end 31 days after they began when nothing keeps them", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await lease(fleet);
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  const left = await world.redis<number>("PTTL", `${world.prefix}:{fleet:render}:history`);
  expect(left).toBeGreaterThan(30 * 86_400_000);
});
