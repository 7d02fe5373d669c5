import { expect, test } from "vitest";
import { claimOne, fill, openQueue, queueOf } from "../support/queue.ts";

type Room = Awaited<ReturnType<typeof openQueue>>;

/** Every waiting task is in flight, at a worker that vanished: a fixture, since so many claims would take long. */
async function strand({ world, queue }: Room, ttl_ms: number): Promise<void> {
  const waiting = await world.redis<string[]>("ZRANGE", queue.keys.ready, 0, -1);
  const [now, due] = [world.now, world.now + ttl_ms];
  const leases = waiting.map((text) => {
    const task = text.replace("/0/0///0", `/1/0/${now}/${now}/0`);
    return `t/a/vanished//normal/${ttl_ms}/infer/${now + 3_600_000}/${now}/${task}`;
  });
  for (let first = 0; first < leases.length; first += 1_000) {
    const some = leases.slice(first, first + 1_000);
    await world.redis("ZADD", queue.keys.timers, ...some.flatMap((lease) => [due, `f/${lease}`]));
    await world.redis("ZADD", queue.keys.members, ...some.flatMap((lease) => [1e15 + due, lease]));
    await world.redis(
      "HSET",
      queue.keys.running,
      ...some.flatMap((lease) => [lease.split("/")[10] ?? "", lease]),
    );
  }
  await world.redis("DEL", queue.keys.ready);
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: waiting.length });
}

test("five thousand abandoned tasks come back to one polling worker at its own pace", async () => {
  const room = await openQueue(10_000, { lease_ttl_ms: 2_000 });
  const { queue, world, fleet } = room;
  await fill(queue, 5_000);
  await strand(room, 2_000);
  world.advance(1_999);
  expect((await queue.claim()).body.reason).toBe("empty");
  world.advance(1);
  const seen = new Set<string>();
  for (let turn = 0; turn < 500; turn++) {
    const { tasks } = (await queue.claim({ max: 10, request_id: `r${turn}` })).body;
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
  const room = await openQueue(10_000, { lease_ttl_ms: 2_000 });
  const { queue, world, fleet } = room;
  await fill(queue, 4_000);
  const last = Array.from({ length: 100 }, (_, at) => ({ id: `last${at}`, payload: at, max_deliveries: 1 }));
  for (let turn = 0; turn < 10; turn++) {
    await queue.batch(last.map((task) => ({ ...task, id: `${task.id}-${turn}` })));
  }
  await strand(room, 2_000);
  world.advance(2_000);
  await world.app.scheduled();
  expect(await world.redis("ZCARD", queue.keys.ready)).toBe(4_000);
  expect(await world.redis("ZCARD", queue.keys.dead)).toBe(1_000);
  expect(await world.redis("ZCARD", queue.keys.timers)).toBe(0);
  expect(await world.redis("HLEN", queue.keys.running)).toBe(0);
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await queue.dead("?limit=1")).tasks).toMatchObject([{ reason: "max_deliveries", deliveries: 1 }]);
  expect((await claimOne(queue)).delivery).toBe(2);
}, 60_000);

test("with twenty thousand lapsed deliveries every call is quick, and all are gone after a few more", async () => {
  const room = await openQueue(20, { lease_ttl_ms: 2_000 });
  const { queue, world } = room;
  await queue.enqueue({ id: "one" });
  const [text = "", order = ""] = await world.redis<string[]>("ZRANGE", queue.keys.ready, 0, 0, "WITHSCORES");
  for (let first = 0; first < 20_000; first += 1_000) {
    const some = Array.from({ length: 1_000 }, (_, at) => [order, text.replace("/one/", `/v${first + at}/`)]);
    await world.redis("ZADD", queue.keys.ready, ...some.flat());
  }
  await strand(room, 2_000);
  world.advance(2_000);
  const started = performance.now();
  expect(await queue.status()).toMatchObject({ ready: 20_001, in_flight: 0 });
  expect((await queue.claim({ max: 10 })).status).toBe(200);
  expect((await queue.enqueue()).status).toBe(201);
  // A second each; three, since the machine may be busy.
  expect(performance.now() - started).toBeLessThan(9_000);
  for (let run = 0; run < 3; run++) await world.app.scheduled();
  expect(await world.redis("ZCARD", queue.keys.timers)).toBeLessThanOrEqual(10);
  expect(await world.redis("HLEN", queue.keys.running)).toBeLessThanOrEqual(10);
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
