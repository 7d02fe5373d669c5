import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const START = 1_790_000_040_000;

const historyOf = async (world: World, path: string, span = "1h") =>
  (await world.get(`/v1/${path}/history?span=${span}`)).body;

/** Minutes pass, a sample in each. */
async function minutes(world: World, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    world.advance(MINUTE);
    await world.app.scheduled("* * * * *");
  }
}

test("a sample a minute tells what the fleet was, and what happened since the sample before", async () => {
  const world = new World({ now: START });
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: DAY, lease_ttl_ms: DAY });
  await fleet.beatMany(10);
  await world.settle();
  await minutes(world, 1);
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  await fleet.acquire();
  await lease(fleet, { class: "high", ttl_ms: 30_000 });
  await world.settle();
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  await world.app.scheduled("* * * * *");
  await minutes(world, 1);
  const { span, step_ms, samples } = await historyOf(world, "fleets/render");
  expect({ span, step_ms }).toEqual({ span: "1h", step_ms: MINUTE });
  expect(samples).toEqual([
    { at: START + MINUTE, live: 10, busy: 0, capacity: 8, grants: 0, denials: 0, lapsed: 0 },
    { at: START + 2 * MINUTE, live: 10, busy: 8, capacity: 8, grants: 9, denials: 1, lapsed: 1 },
    { at: START + 3 * MINUTE, live: 10, busy: 8, capacity: 8, grants: 0, denials: 0, lapsed: 0 },
  ]);
});

test("only leases that ran out are lapsed: not released ones, not those of a pod that left, not completed tasks", async () => {
  const world = new World({ now: START });
  const fleet = fleetOf(world);
  const queue = queueOf(world);
  await queue.configure();
  await fleet.policy({ ttl_ms: DAY });
  await fleet.beatMany(20);
  await world.settle();
  await minutes(world, 1);
  for (let task = 0; task < 4; task++) await queue.enqueue();
  const [one, two, three] = [await claimOne(queue), await claimOne(queue), await claimOne(queue)];
  await claimOne(queue);
  const [four, five, six] = [await lease(fleet), await lease(fleet), await lease(fleet)];
  await lease(fleet, { pod: "leaver" });
  await lease(fleet);
  await queue.complete(one.lease.id);
  await queue.fail(two.lease.id);
  await queue.cancel(three.id);
  await fleet.release(four);
  await fleet.release(five, six);
  await fleet.leave({ pod: "leaver" });
  expect((await fleet.status()).busy).toBe(2);
  world.advance(40_000);
  await queue.claim();
  world.advance(20_000);
  await world.app.scheduled("* * * * *");
  const { samples } = await historyOf(world, "fleets/render");
  expect(samples.at(-1)).toMatchObject({ lapsed: 2 });
});

test("a lapse is counted once however often samples are taken, and also when the cron missed minutes", async () => {
  const world = new World({ now: START });
  const fleet = fleetOf(world);
  await lease(fleet);
  await world.settle();
  world.advance(30_000);
  for (let run = 0; run < 3; run++) {
    await world.app.scheduled("* * * * *");
    world.advance(1_000);
  }
  world.advance(5 * MINUTE);
  await lease(fleet);
  world.advance(4 * MINUTE);
  await minutes(world, 2);
  const { samples } = await historyOf(world, "fleets/render");
  expect(samples.map(({ lapsed }: { lapsed: number }) => lapsed)).toEqual([0, 1, 0]);
});

test("a queue's samples tell its counts and the age of its oldest", async () => {
  const world = new World({ now: START });
  const queue = queueOf(world);
  await queue.configure();
  await queue.enqueue();
  await queue.enqueue({ delay_ms: DAY });
  await world.settle();
  await minutes(world, 2);
  expect((await historyOf(world, "queues/infer")).samples).toEqual([
    { at: START + MINUTE, ready: 1, delayed: 1, in_flight: 0, dead: 0, oldest_ready_ms: MINUTE },
    { at: START + 2 * MINUTE, ready: 1, delayed: 1, in_flight: 0, dead: 0, oldest_ready_ms: 2 * MINUTE },
  ]);
});

test("an unknown fleet has no samples, an unknown queue is not found, an unknown span is refused", async () => {
  const world = new World();
  expect(await historyOf(world, "fleets/nobody")).toEqual({ span: "1h", step_ms: MINUTE, samples: [] });
  expect((await world.get("/v1/queues/nobody/history")).status).toBe(404);
  expect((await world.get("/v1/fleets/render/history?span=2h")).status).toBe(400);
});

test("the space is bounded: a minute's place is used again after a day, a quarter's after 30", async () => {
  const world = new World({ now: START });
  const fleet = fleetOf(world);
  await fleet.beat();
  await world.settle();
  const key = `${world.prefix}:{fleet:render}:history`;
  await minutes(world, 3);
  const fields = await world.redis<number>("HLEN", key);
  expect(fields).toBe(2 + 3 + 1);
  world.advance(1_450 * MINUTE - 3 * MINUTE);
  await fleet.beat();
  await minutes(world, 3);
  expect(await world.redis<number>("HLEN", key)).toBe(fields + 1);
  const { samples } = await historyOf(world, "fleets/render", "24h");
  expect(samples).toHaveLength(3);
  expect((await historyOf(world, "fleets/render", "30d")).samples).toHaveLength(2);
});

test("30 days of quarter hours come back whole, the last minute of each standing for it", async () => {
  const world = new World({ now: START });
  const fleet = fleetOf(world);
  for (let quarter = 0; quarter < 40; quarter++) {
    await fleet.beat({ instance: String(quarter).padStart(2, "0") });
    await world.settle();
    await world.app.scheduled("* * * * *");
    world.advance(900_000);
  }
  const { step_ms, samples } = await historyOf(world, "fleets/render", "30d");
  expect(step_ms).toBe(900_000);
  expect(samples).toHaveLength(40);
  expect(samples.every(({ live }: { live: number }) => live === 1)).toBe(true);
});

test("a history ends 31 days after the last sample, and a broken record stops no other sample", async () => {
  const world = new World({ now: START });
  await fleetOf(world, "one").beat();
  await fleetOf(world, "two").beat();
  await world.settle();
  await world.redis("SET", `${world.prefix}:{fleet:one}:history`, "broken");
  await world.redis("SET", `${world.prefix}:{fleet:two}:policy`, "broken");
  await minutes(world, 1);
  expect((await historyOf(world, "fleets/two")).samples).toHaveLength(1);
  const left = await world.redis<number>("PTTL", `${world.prefix}:{fleet:two}:history`);
  expect(left).toBeGreaterThan(30 * DAY);
});
