import { expect, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { claimOne, idsOf, numbered, openQueue, queueOf } from "../support/queue.ts";

const MAX = 262_144;

test("fifty enqueues of one id at once make one task, and all hear of it", async () => {
  const { world, queue } = await openQueue();
  const isolates = [queue, queueOf(world.isolate()), queueOf(world.isolate())];
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      (isolates[at % 3] ?? queue).enqueue({ id: "t1", payload: { a: 1 } }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
  for (const { body } of answers) expect(body).toMatchObject({ id: "t1", state: "ready" });
  expect(await queue.status()).toMatchObject({ ready: 1, backlog: 1 });
});

const BODY = { payload: { a: 1 }, priority: 3, delay_ms: 0, max_deliveries: 4, time_limit_ms: 5_000 };

test.each([
  ["payload", { payload: { a: 2 } }],
  ["the payload's text", { payload: { a: 1.5 } }],
  ["priority", { priority: 4 }],
  ["class", { class: "high" }],
  ["delay_ms", { delay_ms: 1 }],
  ["max_deliveries", { max_deliveries: 3 }],
  ["time_limit_ms", { time_limit_ms: 6_000 }],
  ["an absent max_deliveries", { max_deliveries: undefined }],
  ["an absent time_limit_ms", { time_limit_ms: undefined }],
])("the same id with another body is a conflict: %s", async (_, other) => {
  const { world, queue } = await openQueue();
  expect((await queue.enqueue({ id: "t1", ...BODY })).status).toBe(201);
  const before = await world.snapshot();
  const { status, body } = await queue.enqueue({ id: "t1", ...BODY, ...other });
  expect(status).toBe(409);
  expect(body).toMatchObject({ code: "id-conflict", errors: [{ path: "id" }] });
  expect(await world.snapshot()).toBe(before);
  expect((await queue.enqueue({ id: "t1", ...BODY })).body).toEqual({
    id: "t1",
    state: "ready",
    duplicate: true,
  });
});

test("what the queue gives by default is the same body as what says so", async () => {
  const { queue } = await openQueue();
  await queue.enqueue({ id: "t1", payload: 1 });
  const full = { id: "t1", payload: 1, priority: 0, class: "normal", delay_ms: 0 };
  expect((await queue.enqueue(full)).body.duplicate).toBe(true);
});

test("the same id in two queues is two tasks", async () => {
  const { world, queue } = await openQueue();
  const other = queueOf(world, "other");
  await other.configure();
  expect((await queue.enqueue({ id: "t1", payload: 1 })).status).toBe(201);
  expect((await other.enqueue({ id: "t1", payload: 2 })).status).toBe(201);
  await queue.complete((await claimOne(queue)).lease.id);
  expect((await other.task("t1")).body.state).toBe("ready");
  expect((await claimOne(other)).payload).toBe(2);
});

test("a repeat hears the present state of its task, whatever that is", async () => {
  const { world, queue } = await openQueue(10, { max_deliveries: 2, lease_ttl_ms: 1_000 });
  const again = async (fields = {}) => (await queue.enqueue({ id: "t1", ...fields })).body.state;
  await queue.enqueue({ id: "t1" });
  expect(await again()).toBe("ready");
  await claimOne(queue);
  expect(await again()).toBe("in_flight");
  world.advance(1_000);
  expect(await again()).toBe("ready");
  const second = await claimOne(queue);
  world.advance(1_000);
  expect(await again()).toBe("dead");
  await queue.redrive();
  expect(await again()).toBe("ready");
  const third = await claimOne(queue);
  expect(third.delivery).toBe(1);
  await queue.fail(third.lease.id, { delay_ms: 10_000 });
  expect(await again()).toBe("delayed");
  world.advance(10_000);
  expect(await again()).toBe("ready");
  await queue.complete((await claimOne(queue)).lease.id);
  expect(await again()).toBe("completed");
  expect(second.delivery).toBe(2);
  await queue.enqueue({ id: "t2", delay_ms: 5_000 });
  expect((await queue.enqueue({ id: "t2", delay_ms: 5_000 })).body.state).toBe("delayed");
  await queue.cancel("t2");
  expect((await queue.enqueue({ id: "t2", delay_ms: 5_000 })).body).toEqual({
    id: "t2",
    state: "cancelled",
    duplicate: true,
  });
});

test("after completion the id is known while the result lives, and makes a new task afterwards", async () => {
  const { world, queue } = await openQueue(10, { result_ttl_ms: 5_000 });
  await queue.enqueue({ id: "t1", payload: 1 });
  await queue.complete((await claimOne(queue)).lease.id, { result: { done: true } });
  expect((await queue.enqueue({ id: "t1", payload: 1 })).body).toEqual({
    id: "t1",
    state: "completed",
    duplicate: true,
  });
  expect((await queue.enqueue({ id: "t1", payload: 2 })).status).toBe(409);
  const ttl = await world.redis<number>("PTTL", queue.keys.record("t1"));
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  // The lifetime is Redis's own, so its end is brought about here.
  await world.redis("PEXPIRE", queue.keys.record("t1"), 0);
  expect((await queue.task("t1")).status).toBe(404);
  expect((await queue.enqueue({ id: "t1", payload: 2 })).status).toBe(201);
  expect((await claimOne(queue)).payload).toBe(2);
});

test("a delayed task is never early", async () => {
  const { world, queue } = await openQueue();
  const { body } = await queue.enqueue({ id: "t1", delay_ms: 3_000 });
  expect(body).toEqual({ id: "t1", state: "delayed", duplicate: false });
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 1, backlog: 0 });
  world.advance(2_999);
  await world.app.scheduled();
  expect((await queue.claim()).body.reason).toBe("empty");
  expect((await queue.task("t1")).body.state).toBe("delayed");
  world.advance(1);
  expect((await queue.task("t1")).body.state).toBe("ready");
  expect(await queue.status()).toMatchObject({ ready: 1, delayed: 0, backlog: 1 });
  expect((await claimOne(queue, { request_id: "r1" })).enqueued_at).toBe(world.now - 3_000);
});

test("a delayed task stands in line from when it fell due", async () => {
  const { world, queue } = await openQueue();
  await queue.enqueue({ id: "later", delay_ms: 1_000 });
  world.advance(999);
  await queue.enqueue({ id: "before" });
  world.advance(2);
  await queue.enqueue({ id: "after" });
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["before", "later", "after"]);
});

test.each([
  ["of one byte a letter", (bytes: number) => "x".repeat(bytes - 2)],
  ["of several bytes a letter", (bytes: number) => "é😀".repeat((bytes - 4) / 6) + "x".repeat(2)],
])("a payload %s may have 262,144 bytes of text and no more", async (_, text) => {
  const { world, queue } = await openQueue();
  const bytes = (payload: string) => new TextEncoder().encode(JSON.stringify(payload)).length;
  const largest = text(MAX);
  expect(bytes(largest)).toBe(MAX);
  expect((await queue.enqueue({ id: "less", payload: largest.slice(0, -1) })).status).toBe(201);
  expect((await queue.enqueue({ id: "most", payload: largest })).status).toBe(201);
  const before = await world.snapshot();
  const { status, body } = await queue.enqueue({ id: "more", payload: `${largest}x` });
  expect(status).toBe(413);
  expect(body).toMatchObject({ code: "too-large", detail: expect.stringContaining("262144") });
  expect(body.errors).toEqual([{ path: "payload", message: "must be at most 262144 bytes" }]);
  expect(await world.snapshot()).toBe(before);
  const claimed = (await queue.claim({ max: 10 })).body.tasks;
  expect(claimed.map(({ id }: { id: string }) => id)).toEqual(["less", "most"]);
  expect(claimed[1].payload).toBe(largest);
});

test("ten of the largest payloads come in one claim", async () => {
  const { queue } = await openQueue(20);
  for (let at = 0; at < 10; at++) await queue.enqueue({ id: `t${at}`, payload: "x".repeat(MAX - 2) });
  const { body } = await queue.claim({ max: 10 });
  expect(body.tasks).toHaveLength(10);
  for (const { payload } of body.tasks) expect(payload).toHaveLength(MAX - 2);
});

test("max_backlog refuses with the time to come back, and still answers repeats", async () => {
  const { queue, world } = await openQueue(10, { max_backlog: 3, lease_ttl_ms: 1_000 });
  for (const id of ["t1", "t2", "t3"]) expect((await queue.enqueue({ id })).status).toBe(201);
  const { status, body, headers } = await queue.enqueue({ id: "t4" });
  expect(status).toBe(429);
  expect(body.code).toBe("queue-full");
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await queue.task("t4")).status).toBe(404);
  expect((await queue.enqueue({ id: "t2" })).body).toEqual({ id: "t2", state: "ready", duplicate: true });
  expect((await queue.enqueue({ id: "t2", payload: 1 })).status).toBe(409);
  const task = await claimOne(queue);
  expect((await queue.enqueue({ id: "t4" })).status).toBe(429);
  world.advance(1_000);
  expect((await queue.enqueue({ id: "t4" })).status).toBe(429);
  expect((await queue.complete(task.lease.id)).status).toBe(409);
  await queue.complete((await claimOne(queue)).lease.id);
  expect((await queue.enqueue({ id: "t4" })).status).toBe(201);
  expect((await queue.enqueue({ id: "t5" })).status).toBe(429);
});

test("max_backlog counts as GET does: delayed tasks once due, and none that are dead by now", async () => {
  const { queue, world } = await openQueue(10, { max_backlog: 2, max_deliveries: 1, lease_ttl_ms: 1_000 });
  await queue.enqueue({ id: "d1", delay_ms: 2_000 });
  await queue.enqueue({ id: "d2", delay_ms: 2_000 });
  await queue.enqueue({ id: "t1" });
  await queue.enqueue({ id: "t2" });
  expect((await queue.enqueue({ id: "t3" })).status).toBe(429);
  await queue.claim({ max: 2 });
  world.advance(1_000);
  expect(await queue.status()).toMatchObject({ backlog: 0, dead: 2 });
  expect((await queue.enqueue({ id: "t3" })).status).toBe(201);
  world.advance(1_000);
  expect(await queue.status()).toMatchObject({ backlog: 3 });
  expect((await queue.enqueue({ id: "t4" })).status).toBe(429);
});

test("a batch takes in what there is room for, in its order", async () => {
  const { queue } = await openQueue(10, { max_backlog: 3 });
  await queue.enqueue({ id: "t1", payload: 1 });
  const { body } = await queue.batch([
    ...numbered(2),
    { id: "t5", payload: 5 },
    { id: "later", payload: 0, delay_ms: 1_000 },
    { id: "t1", payload: 1 },
  ]);
  expect(body.tasks).toEqual([
    { id: "t0", state: "ready", duplicate: false },
    { id: "t1", state: "ready", duplicate: true },
    { id: "t5", state: "ready", duplicate: false },
    { id: "later", code: "queue-full" },
    { id: "t1", state: "ready", duplicate: true },
  ]);
});

test("a batch of a hundred keeps its order within one millisecond, and two batches theirs", async () => {
  const { queue } = await openQueue(500);
  await queue.batch(numbered(100));
  await queue.batch(numbered(100, {}, 100));
  const claimed: number[] = [];
  for (let turn = 0; turn < 20; turn++) claimed.push(...payloadsOf(await queue.claim({ max: 10 })));
  expect(claimed).toHaveLength(200);
  const first = claimed.filter((payload) => payload < 100);
  const second = claimed.filter((payload) => payload >= 100);
  expect(first).toEqual(first.toSorted((one, other) => one - other));
  expect(second).toEqual(second.toSorted((one, other) => one - other));
});

test("a batch of a hundred without ids makes a hundred tasks, in order", async () => {
  const { queue } = await openQueue(200);
  const { body } = await queue.batch(Array.from({ length: 100 }, (_, payload) => ({ payload })));
  const ids = body.tasks.map(({ id }: { id: string }) => id);
  expect(new Set(ids).size).toBe(100);
  expect(ids).toEqual(ids.toSorted());
  const { body: claimed } = await queue.claim({ max: 10 });
  expect(claimed.tasks.map(({ payload }: { payload: number }) => payload)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
});

test("tasks without ids that arrive in one millisecond keep their order", async () => {
  const { queue } = await openQueue(50);
  for (let payload = 0; payload < 10; payload++) await queue.enqueue({ payload });
  expect(payloadsOf(await queue.claim({ max: 10 }))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a batch takes or refuses each of its tasks on its own", async () => {
  const { queue } = await openQueue();
  await queue.enqueue({ id: "old", payload: 1 });
  const { status, body } = await queue.batch([
    { id: "good", payload: 1 },
    { id: "old", payload: 1 },
    { id: "old", payload: 2 },
    { id: "classless", payload: 1, class: "gold" },
    { id: "large", payload: "x".repeat(MAX) },
    { id: "twice", payload: 1 },
    { id: "twice", payload: 1 },
    { id: "twice", payload: 2 },
    { id: "later", payload: 1, delay_ms: 1_000 },
  ]);
  expect(status).toBe(200);
  expect(body.tasks).toEqual([
    { id: "good", state: "ready", duplicate: false },
    { id: "old", state: "ready", duplicate: true },
    { id: "old", code: "id-conflict" },
    { id: "classless", code: "unknown-class" },
    { id: "large", code: "too-large" },
    { id: "twice", state: "ready", duplicate: false },
    { id: "twice", state: "ready", duplicate: true },
    { id: "twice", code: "id-conflict" },
    { id: "later", state: "delayed", duplicate: false },
  ]);
  expect(await queue.status()).toMatchObject({ ready: 3, delayed: 1 });
});

test("a class that the policy has not is refused by name, but for a task that is known", async () => {
  const { queue, fleet, world } = await openQueue();
  const { status, body } = await queue.enqueue({ id: "t1", class: "gold" });
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: "unknown-class", errors: [{ path: "class" }] });
  expect((await queue.task("t1")).status).toBe(404);
  for (const name of ["constructor", "__proto__", "toString"]) {
    expect((await queue.enqueue({ class: name })).status).toBe(400);
  }
  await fleet.policy({ ttl_ms: 86_400_000, classes: { normal: { ratio: 0.8 }, gold: { ratio: 0.9 } } });
  expect((await queue.enqueue({ id: "t1", class: "gold" })).status).toBe(201);
  await fleet.policy({ ttl_ms: 86_400_000 });
  world.advance(5_000);
  expect((await queue.enqueue({ id: "t1", class: "gold" })).body).toEqual({
    id: "t1",
    state: "ready",
    duplicate: true,
  });
  expect((await queue.enqueue({ id: "t2", class: "gold" })).body.code).toBe("unknown-class");
});

test.each([
  ["priority", { priority: 10 }],
  ["priority", { priority: -1 }],
  ["priority", { priority: 1.5 }],
  ["delay_ms", { delay_ms: -1 }],
  ["delay_ms", { delay_ms: 86_400_001 }],
  ["max_deliveries", { max_deliveries: 0 }],
  ["time_limit_ms", { time_limit_ms: 999 }],
  ["id", { id: "" }],
  ["id", { id: "a/b" }],
  ["id", { id: "x".repeat(65) }],
  ["class", { class: "a b" }],
  ["color", { color: "red" }],
  ["payload", { payload: undefined }],
])("a wrong %s is named and nothing is stored", async (path, fields) => {
  const { world, queue } = await openQueue();
  const before = await world.snapshot();
  const { status, body } = await queue.enqueue(fields);
  expect(status).toBe(400);
  expect(body.errors.map((error: { path: string }) => error.path)).toEqual([path]);
  expect(await world.snapshot()).toBe(before);
});

test("the longest names there may be fit into a lease that every call takes", async () => {
  const long = (length: number) => "n".repeat(length);
  const { world } = await openQueue();
  const fleet = fleetOf(world, long(128));
  const queue = queueOf(world, long(128), long(128));
  const classes = { normal: { ratio: 1 }, [long(128)]: { ratio: 1 } };
  await fleet.policy({ classes });
  await queue.configure({ lease_ttl_ms: 86_400_000, max_deliveries: 1_000, time_limit_ms: 86_400_000 });
  const task = {
    id: long(64),
    class: long(128),
    priority: 9,
    max_deliveries: 1_000,
    time_limit_ms: 86_400_000,
  };
  expect((await queue.enqueue({ ...task, delay_ms: 1 })).status).toBe(201);
  world.advance(1);
  const pod = { cluster: long(128), pod: long(253), instance: long(128) };
  const { lease } = await claimOne(queue, pod);
  expect(lease.id.length).toBeLessThanOrEqual(1_200);
  expect((await fleet.beat({ ...pod, leases: [lease.id] })).body.lost).toEqual([]);
  expect((await queue.complete(lease.id)).status).toBe(200);
});

function payloadsOf({ body }: { body: { tasks: { payload: number }[] } }): number[] {
  return body.tasks.map(({ payload }) => payload);
}
