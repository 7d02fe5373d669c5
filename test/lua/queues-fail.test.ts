import { expect, test } from "vitest";
import { claimOne, openQueue, type TestQueue } from "../support/queue.ts";
import type { World } from "../support/world.ts";

/** Milliseconds until a failed task is ready again. */
async function delayOf(world: World, queue: TestQueue): Promise<number> {
  const [, due = "0"] = await world.redis<string[]>("ZRANGE", queue.keys.timers, 0, 0, "WITHSCORES");
  return Number(due) - world.now;
}

test("a retry waits 1 s doubled by each delivery and lengthened by up to a quarter, at most an hour", async () => {
  const { world, queue } = await openQueue(10, { max_deliveries: 1_000 });
  await queue.enqueue({ id: "t1" });
  const waits = new Set<number>();
  for (let delivery = 1; delivery <= 20; delivery++) {
    const task = await claimOne(queue, { request_id: `r${delivery}` });
    expect(task.delivery).toBe(delivery);
    expect((await queue.fail(task.lease.id)).body).toEqual({ state: "delayed", already: false });
    const wait = await delayOf(world, queue);
    const shortest = Math.min(1_000 * 2 ** (delivery - 1), 3_600_000);
    expect(wait).toBeGreaterThanOrEqual(shortest);
    expect(wait).toBeLessThanOrEqual(Math.min(shortest * 1.25, 3_600_000));
    waits.add(wait / shortest);
    world.advance(wait - 1);
    expect((await queue.claim()).body.reason).toBe("empty");
    world.advance(1);
  }
  expect(waits.size).toBeGreaterThan(5);
});

test("delay_ms sets the wait, and 0 makes the task ready at once in its old place", async () => {
  const { world, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const first = await claimOne(queue);
  world.advance(10);
  await queue.enqueue({ id: "t2" });
  expect((await queue.fail(first.lease.id, { delay_ms: 0 })).body).toEqual({
    state: "ready",
    already: false,
  });
  const again = await claimOne(queue);
  expect(again).toMatchObject({ id: "t1", delivery: 2, enqueued_at: world.now - 10 });
  expect((await queue.fail(again.lease.id, { delay_ms: 5_000 })).body.state).toBe("delayed");
  expect(await delayOf(world, queue)).toBe(5_000);
  world.advance(5_000);
  expect((await claimOne(queue)).id).toBe("t1");
});

test("after its last delivery a failed task is dead, at the queue's count or its own", async () => {
  const { queue } = await openQueue(10, { max_deliveries: 2 });
  for (const [id, fields, deliveries] of [
    ["t1", {}, 2],
    ["t2", { max_deliveries: 1 }, 1],
    ["t3", { max_deliveries: 3 }, 3],
  ] as const) {
    await queue.enqueue({ id, ...fields });
    for (let delivery = 1; delivery < deliveries; delivery++) {
      const task = await claimOne(queue);
      expect((await queue.fail(task.lease.id, { delay_ms: 0 })).body.state).toBe("ready");
    }
    const last = await claimOne(queue);
    expect((await queue.fail(last.lease.id, { delay_ms: 0, error: "again" })).body.state).toBe("dead");
    expect((await queue.fail(last.lease.id)).body).toEqual({ state: "dead", already: true });
    expect((await queue.task(id)).body).toMatchObject({
      state: "dead",
      deliveries,
      reason: "max_deliveries",
      error: "again",
    });
  }
});

test("retry:false is dead at once, with the reason given or failed", async () => {
  const { queue } = await openQueue();
  for (const [id, reason] of [
    ["t1", undefined],
    ["t2", "bad input"],
    ["t3", "a/b\nc 😀"],
    ["t4", "r".repeat(128)],
  ]) {
    await queue.enqueue({ id });
    const { lease } = await claimOne(queue);
    expect((await queue.fail(lease.id, { retry: false, reason })).body.state).toBe("dead");
    expect((await queue.task(id ?? "")).body).toMatchObject({ state: "dead", reason: reason ?? "failed" });
  }
  expect((await queue.dead()).tasks.map(({ reason }: { reason: string }) => reason)).toEqual([
    "failed",
    "bad input",
    "a/b\nc 😀",
    "r".repeat(128),
  ]);
  await queue.enqueue({ id: "t5" });
  const { lease } = await claimOne(queue);
  expect((await queue.fail(lease.id, { reason: "r".repeat(129) })).status).toBe(400);
});

test.each([
  ["x", 4_096],
  ["é", 2_048],
  ["😀", 1_024],
  ["€", 1_365],
])("an error of many %s is cut at 4 KiB, never within one", async (letter, kept) => {
  const { queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  await queue.fail((await claimOne(queue)).lease.id, { error: letter.repeat(5_000) });
  expect((await queue.task("t1")).body.error).toBe(letter.repeat(kept));
});

test("an error keeps its lines and every sign in it", async () => {
  const { queue } = await openQueue();
  const error = "first line\nsecond\r\n\u0000 \u2028 😀 / end\n";
  await queue.enqueue({ id: "t1" });
  await queue.fail((await claimOne(queue)).lease.id, { error, retry: false });
  expect((await queue.task("t1")).body.error).toBe(error);
  expect((await queue.dead()).tasks[0].error).toBe(error);
});

test("no_capacity counts no delivery but a deferral, even at the last delivery", async () => {
  const { world, queue } = await openQueue(10, { max_deliveries: 1 });
  await queue.enqueue({ id: "t1" });
  for (let turn = 1; turn <= 10; turn++) {
    const task = await claimOne(queue);
    expect(task.delivery).toBe(1);
    expect((await queue.fail(task.lease.id, { reason: "no_capacity" })).body.state).toBe("delayed");
    expect((await queue.task("t1")).body).toMatchObject({ deliveries: 0, deferred: turn });
    world.advance(1_250);
  }
  await queue.complete((await claimOne(queue)).lease.id);
  expect((await queue.task("t1")).body).toMatchObject({ state: "completed", deliveries: 1, deferred: 10 });
});

test("a repeated fail hears what the first did, until the task moves on", async () => {
  const { queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const first = await claimOne(queue);
  await queue.fail(first.lease.id, { delay_ms: 0 });
  expect((await queue.fail(first.lease.id, { retry: false })).body).toEqual({
    state: "ready",
    already: true,
  });
  const second = await claimOne(queue);
  expect((await queue.fail(first.lease.id)).body).toEqual({ state: "ready", already: true });
  expect((await queue.complete(first.lease.id)).body.code).toBe("stale-lease");
  await queue.fail(second.lease.id, { retry: false });
  expect((await queue.fail(first.lease.id)).body.code).toBe("stale-lease");
  expect((await queue.complete(second.lease.id)).body.code).toBe("stale-lease");
  expect(await queue.status()).toMatchObject({ dead: 1, backlog: 0 });
});

test("failing frees the slot at once for the next task", async () => {
  const { queue, fleet } = await openQueue(1);
  await queue.enqueue({ id: "t1" });
  await queue.enqueue({ id: "t2" });
  const { lease } = await claimOne(queue);
  expect((await queue.claim()).body.reason).toBe("at_capacity");
  await queue.fail(lease.id, { delay_ms: 60_000 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await claimOne(queue)).id).toBe("t2");
});

test("what a failure noted goes with the completion", async () => {
  const { world, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  await queue.fail((await claimOne(queue)).lease.id, { error: "once", delay_ms: 0 });
  await queue.complete((await claimOne(queue)).lease.id);
  expect((await queue.task("t1")).body).not.toHaveProperty("error");
  expect(await world.redis("EXISTS", queue.keys.failure("t1"))).toBe(0);
});
