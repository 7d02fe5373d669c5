import { expect, test } from "vitest";
import { claimOne, fill, openQueue, queueOf } from "../support/queue.ts";

type Room = Awaited<ReturnType<typeof openQueue>>;

/** `count` tasks in flight whose workers vanish: claimed for real, in tens. */
async function abandon({ queue }: Room, count: number): Promise<void> {
  await fill(queue, count);
  const calls = Array.from({ length: count / 10 }, (_, at) => at);
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (calls.pop() !== undefined) await queue.claim({ max: 10, pod: "vanished" });
    }),
  );
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: count });
}

test("five thousand abandoned tasks come back to one polling worker at its own pace", async () => {
  const room = await openQueue(10_000, { lease_ttl_ms: 2_000 });
  const { queue, world, fleet } = room;
  await abandon(room, 5_000);
  world.advance(1_999);
  expect((await queue.claim()).body.reason).toBe("empty");
  world.advance(1);
  const seen = new Set<string>();
  for (let turn = 0; turn < 500; turn++) {
    const { tasks } = (await queue.claim({ max: 10 })).body;
    expect(tasks).toHaveLength(10);
    for (const { id, delivery } of tasks) {
      expect(delivery).toBe(2);
      seen.add(id);
    }
  }
  expect(seen.size).toBe(5_000);
  expect((await queue.claim()).body.reason).toBe("empty");
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 5_000, dead: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 5_000 });
}, 60_000);

test("the cron alone brings back five thousand abandoned tasks, or lets them die", async () => {
  const room = await openQueue(10_000, { lease_ttl_ms: 2_000, max_deliveries: 2 });
  const { queue, world, fleet } = room;
  await abandon(room, 5_000);
  world.advance(2_000);
  await world.app.scheduled();
  expect(await world.redis("ZCARD", queue.keys.ready)).toBe(5_000);
  expect(await world.redis("ZCARD", queue.keys.timers)).toBe(0);
  for (let turn = 0; turn < 500; turn++) await queue.claim({ max: 10, pod: "vanished" });
  world.advance(2_000);
  await world.app.scheduled();
  expect(await world.redis("ZCARD", queue.keys.dead)).toBe(5_000);
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 5_000 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
}, 60_000);

test("with twenty thousand lapsed deliveries every call is quick, and all are gone after a few more", async () => {
  const { queue, world } = await openQueue(20, { lease_ttl_ms: 2_000 });
  // A fixture: so many claims would take minutes. Two real ones give the shape.
  await fill(queue, 2);
  const [one] = (await queue.claim({ max: 1, pod: "vanished" })).body.tasks;
  const many = Array.from({ length: 20_000 }, (_, at) => `v${at}`);
  for (let first = 0; first < many.length; first += 1_000) {
    const leases = many
      .slice(first, first + 1_000)
      .map((id) => [id, one.lease.id.replace("/t0/", `/${id}/`)]);
    const due = world.now + 2_000;
    await world.redis("ZADD", queue.keys.timers, ...leases.flatMap(([, lease]) => [due, `f/${lease}`]));
    await world.redis(
      "ZADD",
      queue.keys.members,
      ...leases.flatMap(([, lease]) => [1e15 + due, lease ?? ""]),
    );
    await world.redis("HSET", queue.keys.running, ...leases.flat());
  }
  world.advance(2_000);
  const started = performance.now();
  expect(await queue.status()).toMatchObject({ ready: 20_002, in_flight: 0 });
  expect((await queue.claim({ max: 10 })).status).toBe(200);
  expect((await queue.enqueue()).status).toBe(201);
  const perCall = (performance.now() - started) / 3;
  // A second each, and generously so: the machine may be busy.
  expect(perCall).toBeLessThan(3_000);
  for (let turn = 0; turn < 4; turn++) await world.app.scheduled();
  expect(await world.redis("ZCARD", queue.keys.timers)).toBeLessThanOrEqual(10);
}, 60_000);

test("renewed deliveries do not keep lapsed ones from coming back", async () => {
  const room = await openQueue(2_000, { lease_ttl_ms: 2_000 });
  const { queue, world, fleet } = room;
  await fill(queue, 600);
  const held: string[] = [];
  for (let turn = 0; turn < 60; turn++) {
    const { tasks } = (await queue.claim({ max: 10 })).body;
    held.push(...tasks.map(({ lease }: { lease: { id: string } }) => lease.id));
  }
  world.advance(1_000);
  await queue.enqueue({ id: "left" });
  await claimOne(queue, { pod: "vanished" });
  world.advance(900);
  for (let first = 0; first < held.length; first += 100) {
    await fleet.beat({ leases: held.slice(first, first + 100) });
  }
  world.advance(1_100);
  await queue.claim();
  expect((await claimOne(queue)).id).toBe("left");
});

test("one cron run visits many queues within the calls that a free plan allows", async () => {
  const { world, queue } = await openQueue(100, { lease_ttl_ms: 1_000 });
  const queues = Array.from({ length: 25 }, (_, at) => queueOf(world, `q${at}`));
  for (const one of queues) {
    await one.configure({ lease_ttl_ms: 1_000 });
    await one.enqueue({ id: "t1", delay_ms: 1_000 });
  }
  await world.settle();
  world.advance(5_000);
  const { lane, isolate } = world.faulty("none");
  await isolate.app.scheduled();
  expect(await lane.seen()).toBeLessThanOrEqual(50);
  for (let run = 0; run < 60; run++) await world.app.scheduled();
  for (const one of queues) expect(await world.redis("ZCARD", one.keys.ready)).toBe(1);
  expect(await queue.status()).toMatchObject({ ready: 0 });
}, 30_000);

test("a queue whose records cannot be read keeps the cron from no other", async () => {
  const { world, queue } = await openQueue();
  const other = queueOf(world, "broken");
  await other.configure();
  await other.enqueue({ id: "t1", delay_ms: 1_000 });
  await queue.enqueue({ id: "t1", delay_ms: 1_000 });
  await world.settle();
  await world.redis("SET", other.keys.timers, "junk");
  await world.redis("SET", other.keys.config, "junk");
  world.advance(5_000);
  await world.app.scheduled();
  expect(await world.redis("ZCARD", queue.keys.ready)).toBe(1);
});
