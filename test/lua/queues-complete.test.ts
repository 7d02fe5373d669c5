import { expect, test } from "vitest";
import { claimOne, openQueue, queueOf } from "../support/queue.ts";

const MAX = 65_536;

test("a completion frees the slot, and its repeat says so without doing it again", async () => {
  const { queue, fleet } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const { lease } = await claimOne(queue);
  expect((await queue.complete(lease.id, { result: 1 })).body).toEqual({ completed: true, already: false });
  expect((await queue.complete(lease.id, { result: 2 })).body).toEqual({ completed: true, already: true });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await queue.task("t1")).body).toMatchObject({ state: "completed", result: 1 });
});

test("a result may be absent, or any JSON, and absent is not null", async () => {
  const { queue, world } = await openQueue();
  const results = {
    none: {},
    nil: { result: null },
    zero: { result: 0 },
    text: { result: "" },
    list: { result: [] },
  };
  for (const [id, fields] of Object.entries(results)) {
    await queue.enqueue({ id });
    await queue.complete((await claimOne(queue)).lease.id, fields);
    const { body } = await queue.task(id);
    expect(body).toMatchObject({ state: "completed", finished_at: world.now, ...fields });
    expect("result" in body).toBe("result" in fields);
  }
});

test.each([
  ["of one byte a letter", (bytes: number) => "x".repeat(bytes - 2)],
  ["of several bytes a letter", (bytes: number) => "é😀".repeat((bytes - 4) / 6) + "x".repeat(2)],
])("a result %s may have 65,536 bytes of text and no more", async (_, text) => {
  const { queue, world } = await openQueue();
  const largest = text(MAX);
  expect(new TextEncoder().encode(JSON.stringify(largest)).length).toBe(MAX);
  await queue.enqueue({ id: "t1" });
  const { lease } = await claimOne(queue);
  const before = await world.snapshot();
  const { status, body } = await queue.complete(lease.id, { result: `${largest}x` });
  expect(status).toBe(413);
  expect(body).toMatchObject({ code: "too-large", detail: expect.stringContaining("65536") });
  expect(await world.snapshot()).toBe(before);
  expect((await queue.complete(lease.id, { result: largest })).status).toBe(200);
  expect((await queue.task("t1")).body.result).toBe(largest);
});

test("a completion after the lease has lapsed is refused, even if nobody took the task", async () => {
  const { queue, world, fleet } = await openQueue(10, { lease_ttl_ms: 2_000 });
  await queue.enqueue({ id: "t1" });
  const { lease } = await claimOne(queue);
  world.advance(2_000);
  const before = await queue.status();
  for (let turn = 0; turn < 3; turn++) {
    expect((await queue.complete(lease.id)).body.code).toBe("stale-lease");
    expect((await queue.fail(lease.id)).body.code).toBe("stale-lease");
  }
  expect(await queue.status()).toEqual(before);
  expect(before).toMatchObject({ ready: 1, in_flight: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await claimOne(queue)).delivery).toBe(2);
});

test("a stale completion by a worker of the same name moves nothing", async () => {
  const { queue, world, fleet } = await openQueue(10, { lease_ttl_ms: 2_000 });
  await queue.enqueue({ id: "t1" });
  const first = await claimOne(queue, { instance: "1" });
  world.advance(2_000);
  const second = await claimOne(queue, { instance: "1" });
  expect(second.lease.id).not.toBe(first.lease.id);
  const before = await world.snapshot();
  expect((await queue.complete(first.lease.id, { result: "old" })).body.code).toBe("stale-lease");
  expect((await queue.fail(first.lease.id)).body.code).toBe("stale-lease");
  expect(await world.snapshot()).toBe(before);
  expect(await fleet.status()).toMatchObject({ busy: 1 });
  await queue.complete(second.lease.id, { result: "new" });
  expect((await queue.complete(first.lease.id)).body.code).toBe("stale-lease");
  expect((await queue.task("t1")).body).toMatchObject({ result: "new", deliveries: 2 });
});

test("a lease of another queue, of a slot, or that was never made is stale", async () => {
  const { queue, world, fleet } = await openQueue();
  const other = queueOf(world, "other");
  await other.configure();
  await other.enqueue({ id: "t1" });
  const { lease } = await claimOne(other);
  const slot = (await fleet.acquire()).body.lease.id;
  const forged = lease.id.replace("/other/", "/infer/");
  for (const id of [lease.id, slot, forged, "x", "", `${lease.id}/`, `${lease.id} `]) {
    expect((await queue.complete(id)).body.code).toBe("stale-lease");
    expect((await queue.fail(id)).body.code).toBe("stale-lease");
  }
  expect(await fleet.status()).toMatchObject({ busy: 2 });
  expect((await other.complete(lease.id)).status).toBe(200);
});

test("a long task under a short lease is renewed by heartbeats until its worker stops", async () => {
  const { queue, world, fleet } = await openQueue(10, { lease_ttl_ms: 1_000 });
  await queue.enqueue({ id: "t1" });
  const { lease } = await claimOne(queue);
  for (let beat = 0; beat < 25; beat++) {
    world.advance(400);
    expect((await fleet.beat({ leases: [lease.id] })).body.lost).toEqual([]);
    expect((await queue.claim({ pod: "other" })).body.reason).toBe("empty");
    expect(await queue.status()).toMatchObject({ in_flight: 1, ready: 0 });
  }
  world.advance(1_000);
  expect(await claimOne(queue, { pod: "other" })).toMatchObject({ id: "t1", delivery: 2 });
  expect((await queue.claim({ pod: "other" })).body.reason).toBe("empty");
});

test("renewing ends at the time limit, however often it is asked, and the late completion is refused", async () => {
  const { queue, world, fleet } = await openQueue(10, {
    lease_ttl_ms: 1_000,
    time_limit_ms: 3_000,
    max_deliveries: 2,
  });
  await queue.enqueue({ id: "t1" });
  for (let delivery = 1; delivery <= 2; delivery++) {
    const { lease, deadline_at } = await claimOne(queue);
    expect(deadline_at).toBe(world.now + 3_000);
    for (let beat = 0; beat < 14; beat++) {
      world.advance(200);
      expect((await fleet.beat({ leases: [lease.id] })).body.lost).toEqual([]);
    }
    world.advance(200);
    expect((await fleet.beat({ leases: [lease.id] })).body.lost).toEqual([lease.id]);
    expect((await queue.complete(lease.id)).body.code).toBe("stale-lease");
  }
  expect((await queue.task("t1")).body).toMatchObject({
    state: "dead",
    deliveries: 2,
    reason: "max_deliveries",
  });
  expect(await queue.status()).toMatchObject({ dead: 1, backlog: 0 });
});

test("a task's own limits stand before the queue's", async () => {
  const { queue, world } = await openQueue(10, {
    time_limit_ms: 60_000,
    max_deliveries: 5,
    lease_ttl_ms: 10_000,
  });
  await queue.enqueue({ id: "t1", time_limit_ms: 2_000, max_deliveries: 1 });
  const task = await claimOne(queue);
  expect(task.deadline_at).toBe(world.now + 2_000);
  expect(task.lease).toMatchObject({ ttl_ms: 2_000, expires_at: world.now + 2_000 });
  world.advance(2_000);
  expect((await queue.task("t1")).body.state).toBe("dead");
  await queue.enqueue({ id: "t2", max_deliveries: 7 });
  for (let delivery = 1; delivery <= 7; delivery++) {
    expect((await claimOne(queue)).delivery).toBe(delivery);
    world.advance(10_000);
  }
  expect((await queue.task("t2")).body.state).toBe("dead");
});

test("the soft deadline is told and never lies after the hard one", async () => {
  const { queue, world } = await openQueue(10, { time_limit_ms: 10_000, soft_time_limit_ms: 8_000 });
  await queue.enqueue({ id: "t1" });
  await queue.enqueue({ id: "t2", time_limit_ms: 3_000 });
  const [first, second] = (await queue.claim({ max: 2 })).body.tasks;
  expect(first).toMatchObject({ soft_deadline_at: world.now + 8_000, deadline_at: world.now + 10_000 });
  expect(second).toMatchObject({ soft_deadline_at: world.now + 3_000, deadline_at: world.now + 3_000 });
});

test("a finished task is never declared abandoned, whoever sweeps and whenever", async () => {
  const { queue, world } = await openQueue(200, { lease_ttl_ms: 1_000, max_deliveries: 1 });
  const lossy = queueOf(world.faulty("truncated", "timers").isolate);
  for (let turn = 0; turn < 20; turn++) {
    await queue.batch(Array.from({ length: 10 }, (_, at) => ({ id: `t${turn}-${at}`, payload: at })));
    for (const [at, { lease }] of (await queue.claim({ max: 10 })).body.tasks.entries()) {
      if (at % 10 === turn % 10) {
        expect((await lossy.complete(lease.id)).status).toBe(503);
        expect((await queue.complete(lease.id)).body).toEqual({ completed: true, already: true });
      } else await queue.complete(lease.id);
    }
    world.advance(1_000);
    await queue.claim();
    await world.app.scheduled();
    expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, in_flight: 0, dead: 0 });
  }
});

test("a queue that was told to pause lets its deliveries end and be renewed", async () => {
  const { queue, fleet, world } = await openQueue();
  for (const id of ["t1", "t2"]) await queue.enqueue({ id });
  const [first, second] = (await queue.claim({ max: 2 })).body.tasks;
  await queue.configure({ paused: true });
  world.advance(5_000);
  expect((await fleet.beat({ leases: [first.lease.id, second.lease.id] })).body.lost).toEqual([]);
  expect((await queue.complete(first.lease.id)).status).toBe(200);
  expect((await queue.fail(second.lease.id, { delay_ms: 0 })).body.state).toBe("ready");
  expect((await queue.claim()).body.reason).toBe("paused");
});
