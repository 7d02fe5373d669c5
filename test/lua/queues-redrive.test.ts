import { expect, test } from "vitest";
import { claimOne, fill, idsOf, openQueue } from "../support/queue.ts";

async function withDead(count: number) {
  const room = await openQueue(100);
  await fill(room.queue, count);
  for (let left = count; left > 0; left -= 10) {
    const { tasks } = (await room.queue.claim({ max: 10 })).body;
    for (const { lease } of tasks) await room.queue.fail(lease.id, { retry: false });
  }
  return room;
}

test("a redriven task has a fresh count and its old place and times", async () => {
  const { queue, world } = await openQueue(10, { max_deliveries: 2, lease_ttl_ms: 1_000 });
  const enqueued_at = world.now;
  await queue.enqueue({ id: "t1", priority: 5 });
  for (let delivery = 1; delivery <= 2; delivery++) {
    await claimOne(queue);
    world.advance(1_000);
  }
  await queue.enqueue({ id: "t2", priority: 5 });
  expect((await queue.redrive({ ids: ["t1"] })).body).toEqual({ redriven: 1 });
  expect((await queue.task("t1")).body).toEqual({
    id: "t1",
    state: "ready",
    priority: 5,
    class: "normal",
    deliveries: 0,
    deferred: 0,
    enqueued_at,
  });
  expect(await claimOne(queue)).toMatchObject({ id: "t1", delivery: 1, enqueued_at });
  world.advance(1_000);
  expect((await claimOne(queue)).delivery).toBe(2);
});

test("ids that are not dead are passed over, and a name said twice counts once", async () => {
  const { queue, world } = await withDead(5);
  world.advance(1);
  await queue.enqueue({ id: "waits" });
  const ids = ["t1", "t1", "nobody", "waits", "t3"];
  expect((await queue.redrive({ ids })).body).toEqual({ redriven: 2 });
  expect((await queue.redrive({ ids })).body).toEqual({ redriven: 0 });
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["t1", "t3", "waits"]);
  expect(await queue.status()).toMatchObject({ dead: 3, ready: 0, in_flight: 3 });
});

test("without ids all are redriven, a thousand a call", async () => {
  const { queue, world } = await openQueue(10, { max_deliveries: 1, lease_ttl_ms: 1_000 });
  await fill(queue, 1_050);
  // As if each had been claimed and abandoned: a fixture, since that many claims would take long.
  const waiting = await world.redis<string[]>("ZRANGE", queue.keys.ready, 0, -1);
  const dead = waiting.flatMap((text) => [0, `${text.split("/")[1]}/${world.now}/${text}/max_deliveries`]);
  await world.redis("ZADD", queue.keys.dead, ...dead);
  await world.redis("DEL", queue.keys.ready);
  expect((await queue.redrive()).body).toEqual({ redriven: 1_000 });
  expect(await queue.status()).toMatchObject({ dead: 50, ready: 1_000 });
  expect((await queue.redrive()).body).toEqual({ redriven: 50 });
  expect((await queue.redrive()).body).toEqual({ redriven: 0 });
  expect(await queue.status()).toMatchObject({ dead: 0, ready: 1_050 });
});

test("a redriven task may be completed, cancelled, and die again", async () => {
  const { queue } = await withDead(3);
  await queue.redrive();
  const [first, second] = (await queue.claim({ max: 2 })).body.tasks;
  expect((await queue.complete(first.lease.id)).status).toBe(200);
  expect((await queue.fail(second.lease.id, { retry: false, reason: "again" })).body.state).toBe("dead");
  expect((await queue.cancel("t2")).status).toBe(200);
  expect(await queue.status()).toMatchObject({ ready: 0, dead: 1 });
  expect((await queue.task("t1")).body).toMatchObject({ state: "dead", reason: "again", deliveries: 1 });
});

test("an abandoned task that is dead by now is redriven though nobody has swept", async () => {
  const { queue, world } = await openQueue(10, { max_deliveries: 1, lease_ttl_ms: 1_000 });
  await queue.enqueue({ id: "t1" });
  await claimOne(queue);
  world.advance(1_000);
  expect((await queue.redrive({ ids: ["t1"] })).body).toEqual({ redriven: 1 });
  expect((await claimOne(queue)).delivery).toBe(1);
});

test.each([{ ids: [] }, { ids: ["a/b"] }, { ids: "t1" }, { all: true }])("%j is refused", async (body) => {
  const { queue } = await openQueue();
  expect((await queue.redrive(body)).status).toBe(400);
});
