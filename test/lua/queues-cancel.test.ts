import { expect, test } from "vitest";
import { claimOne, openQueue } from "../support/queue.ts";

test("a waiting task is cancelled at once, and cancelling again says the same", async () => {
  const { queue, world } = await openQueue();
  await queue.enqueue({ id: "ready" });
  await queue.enqueue({ id: "later", delay_ms: 5_000 });
  for (const id of ["ready", "later"]) {
    expect((await queue.cancel(id)).body).toEqual({ id, state: "cancelled" });
    expect((await queue.cancel(id)).body).toEqual({ id, state: "cancelled" });
    expect((await queue.task(id)).body).toMatchObject({
      state: "cancelled",
      finished_at: world.now,
      deliveries: 0,
    });
  }
  world.advance(5_000);
  expect((await queue.claim()).body.reason).toBe("empty");
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, backlog: 0 });
});

test("a task may have the id that another call's path ends in", async () => {
  const { queue } = await openQueue();
  for (const id of ["batch", "tasks", "dead"]) {
    expect((await queue.enqueue({ id })).status).toBe(201);
    expect((await queue.task(id)).body).toMatchObject({ id, state: "ready" });
    expect((await queue.cancel(id)).body).toEqual({ id, state: "cancelled" });
  }
});

test("a task in flight loses its lease and its slot at once, and its worker hears so at the next beat", async () => {
  const { queue, fleet } = await openQueue(1);
  await queue.enqueue({ id: "t1" });
  await queue.enqueue({ id: "t2" });
  const { lease } = await claimOne(queue);
  expect((await queue.cancel("t1")).status).toBe(200);
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await claimOne(queue, { pod: "other" })).id).toBe("t2");
  expect((await fleet.beat({ leases: [lease.id] })).body.lost).toEqual([lease.id]);
  expect((await queue.complete(lease.id, { result: 1 })).body.code).toBe("stale-lease");
  expect((await queue.fail(lease.id)).body.code).toBe("stale-lease");
  expect((await queue.task("t1")).body).toMatchObject({ state: "cancelled", deliveries: 1 });
});

test("a cancelled task is not redelivered when its lease would have lapsed", async () => {
  const { queue, world } = await openQueue(10, { lease_ttl_ms: 1_000 });
  await queue.enqueue({ id: "t1" });
  await claimOne(queue);
  await queue.cancel("t1");
  world.advance(1_000);
  expect((await queue.claim()).body.reason).toBe("empty");
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 0 });
});

test("an abandoned task may be cancelled, whether it was swept or not", async () => {
  const { queue, world } = await openQueue(10, { lease_ttl_ms: 1_000 });
  for (const id of ["t1", "t2"]) await queue.enqueue({ id });
  await queue.claim({ max: 2 });
  world.advance(1_000);
  expect((await queue.cancel("t1")).status).toBe(200);
  await world.app.scheduled();
  expect((await queue.cancel("t2")).status).toBe(200);
  expect((await queue.claim()).body.reason).toBe("empty");
});

test("a task that failed and waits may be cancelled, with what was noted of it", async () => {
  const { queue, world } = await openQueue();
  await queue.enqueue({ id: "t1" });
  await queue.fail((await claimOne(queue)).lease.id, { delay_ms: 5_000, error: "x" });
  expect((await queue.cancel("t1")).status).toBe(200);
  expect(await world.redis("EXISTS", queue.keys.failure("t1"))).toBe(0);
  world.advance(5_000);
  expect((await queue.claim()).body.reason).toBe("empty");
});

test("what has finished cannot be cancelled, and what was never there is not found", async () => {
  const { queue } = await openQueue();
  await queue.enqueue({ id: "done" });
  await queue.complete((await claimOne(queue)).lease.id);
  await queue.enqueue({ id: "dead" });
  await queue.fail((await claimOne(queue)).lease.id, { retry: false });
  for (const id of ["done", "dead"]) {
    expect(await queue.cancel(id)).toMatchObject({ status: 409, body: { code: "request-ended" } });
  }
  expect(await queue.cancel("nobody")).toMatchObject({ status: 404, body: { code: "not-found" } });
  expect(await queue.status()).toMatchObject({ dead: 1 });
});

test("a cancelled id may be enqueued anew once its record has gone", async () => {
  const { queue, world } = await openQueue(10, { result_ttl_ms: 2_000 });
  await queue.enqueue({ id: "t1" });
  await queue.cancel("t1");
  expect((await queue.enqueue({ id: "t1" })).body).toMatchObject({ state: "cancelled", duplicate: true });
  expect(await world.redis<number>("PTTL", queue.keys.record("t1"))).toBeGreaterThan(0);
  await world.redis("PEXPIRE", queue.keys.record("t1"), 0);
  expect((await queue.enqueue({ id: "t1", payload: 2 })).status).toBe(201);
});
