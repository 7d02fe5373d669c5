import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

async function open(pods = 5, config: Record<string, unknown> = {}) {
  const world = new World();
  const fleet = fleetOf(world);
  const queue = queueOf(world);
  await fleet.beatMany(pods);
  await queue.configure(config);
  return { world, fleet, queue };
}

test("a task goes from enqueue through claim to complete, and its slot with it", async () => {
  const { fleet, queue, world } = await open();
  const { status, body } = await queue.enqueue({ id: "t1", payload: { frames: [1, 2] } });
  expect(status).toBe(201);
  expect(body).toEqual({ id: "t1", state: "ready", duplicate: false });
  expect(await queue.status()).toMatchObject({ ready: 1, in_flight: 0, backlog: 1 });

  const task = await claimOne(queue);
  expect(task).toEqual({
    id: "t1",
    payload: { frames: [1, 2] },
    priority: 0,
    class: "normal",
    delivery: 1,
    enqueued_at: world.now,
    lease: { id: expect.any(String), ttl_ms: 30_000, expires_at: world.now + 30_000 },
    deadline_at: world.now + 3_600_000,
  });
  expect(await fleet.status()).toMatchObject({ busy: 1 });
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 1, backlog: 1 });
  expect((await queue.task("t1")).body.state).toBe("in_flight");

  expect((await queue.complete(task.lease.id, { result: { ok: true } })).body).toEqual({
    completed: true,
    already: false,
  });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 0, backlog: 0 });
  expect((await queue.task("t1")).body).toMatchObject({
    state: "completed",
    result: { ok: true },
    deliveries: 1,
  });
});

test("an empty claim says why and when to come back", async () => {
  const { queue } = await open();
  const { body } = await queue.claim();
  expect(body).toEqual({ tasks: [], reason: "empty", retry_after_ms: expect.any(Number) });
});

test("at capacity no task is taken, and the reserve serves only high tasks", async () => {
  const { fleet, queue } = await open(5);
  for (let slot = 0; slot < 4; slot++) await lease(fleet);
  await queue.enqueue({ id: "n" });
  expect((await queue.claim()).body).toMatchObject({ tasks: [], reason: "at_capacity" });
  await queue.enqueue({ id: "h", class: "high" });
  expect((await claimOne(queue)).id).toBe("h");
  expect((await queue.claim()).body).toMatchObject({ tasks: [], reason: "at_capacity" });
  expect(await fleet.status()).toMatchObject({ busy: 5 });
});

test("order is class, then priority, then age", async () => {
  const { queue, world } = await open(50);
  const add = async (fields: Record<string, unknown>) => {
    await queue.enqueue(fields);
    world.advance(1);
  };
  await add({ id: "n0-first" });
  await add({ id: "n9", priority: 9 });
  await add({ id: "n0-second" });
  await add({ id: "h0", class: "high" });
  await add({ id: "h5", class: "high", priority: 5 });
  const { body } = await queue.claim({ max: 10 });
  expect(body.tasks.map(({ id }: { id: string }) => id)).toEqual(["h5", "h0", "n9", "n0-first", "n0-second"]);
});

test("ten are claimed with a slot for each, and no more than there are slots", async () => {
  const { fleet, queue } = await open(10);
  await queue.batch(Array.from({ length: 20 }, (_, at) => ({ id: `t${at}`, payload: at })));
  const { body } = await queue.claim({ max: 10 });
  expect(body.tasks).toHaveLength(8);
  expect(body.tasks.map(({ payload }: { payload: number }) => payload)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(await fleet.status()).toMatchObject({ busy: 8, available: 0 });
});

test("a repeated request_id gives the same tasks again, not more", async () => {
  const { queue, fleet } = await open(10);
  await queue.batch(Array.from({ length: 5 }, (_, at) => ({ id: `t${at}`, payload: at })));
  const first = await queue.claim({ max: 2, request_id: "r1" });
  const again = await queue.claim({ max: 2, request_id: "r1" });
  expect(first.body.tasks).toHaveLength(2);
  expect(again.body).toEqual(first.body);
  expect(await fleet.status()).toMatchObject({ busy: 2 });
  for (const { lease } of first.body.tasks) await queue.complete(lease.id);
  expect((await queue.claim({ max: 2, request_id: "r1" })).body.code).toBe("request-ended");
});

test("an abandoned task is redelivered when its lease lapses, and dead after max_deliveries", async () => {
  const { queue, world, fleet } = await open(5, { max_deliveries: 2, lease_ttl_ms: 2_000 });
  await fleet.policy({ ttl_ms: 600_000 });
  await fleet.beatMany(5);
  await queue.enqueue({ id: "t1" });
  expect((await claimOne(queue)).delivery).toBe(1);
  world.advance(1_999);
  expect((await queue.claim()).body.reason).toBe("empty");
  world.advance(1);
  expect(await queue.status()).toMatchObject({ ready: 1, in_flight: 0 });
  expect((await queue.task("t1")).body.state).toBe("ready");
  expect((await claimOne(queue, { request_id: "again" })).delivery).toBe(2);
  world.advance(2_000);
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 1 });
  expect((await queue.task("t1")).body.state).toBe("dead");
  expect((await queue.claim()).body.reason).toBe("empty");
  expect((await queue.dead()).tasks).toMatchObject([{ id: "t1", reason: "max_deliveries", deliveries: 2 }]);
  expect((await queue.redrive()).body).toEqual({ redriven: 1 });
  expect((await claimOne(queue)).delivery).toBe(1);
});

test("the fleet's heartbeat keeps a task, and only its current delivery can be completed", async () => {
  const { queue, world, fleet } = await open(5, { lease_ttl_ms: 2_000 });
  await fleet.policy({ ttl_ms: 600_000 });
  await queue.enqueue({ id: "t1" });
  const first = await claimOne(queue);
  for (let beat = 0; beat < 10; beat++) {
    world.advance(1_000);
    expect((await fleet.beat({ leases: [first.lease.id] })).body.lost).toEqual([]);
    expect((await queue.claim({ pod: "other" })).body.reason).toBe("empty");
  }
  world.advance(2_000);
  const second = await claimOne(queue);
  expect((await queue.complete(first.lease.id)).body.code).toBe("stale-lease");
  expect((await fleet.beat({ leases: [first.lease.id] })).body.lost).toEqual([first.lease.id]);
  expect((await queue.complete(second.lease.id, { result: 1 })).status).toBe(200);
  expect((await queue.complete(second.lease.id, { result: 1 })).body).toEqual({
    completed: true,
    already: true,
  });
  expect((await queue.fail(first.lease.id)).body.code).toBe("stale-lease");
});

test("leave hands tasks back with no delivery counted", async () => {
  const { queue, fleet } = await open();
  await queue.enqueue({ id: "t1" });
  const task = await claimOne(queue);
  const slot = await lease(fleet);
  const { body } = await fleet.leave();
  expect(body.left).toBe(true);
  expect(body.released.sort()).toEqual([slot, task.lease.id].sort());
  expect((await queue.task("t1")).body).toMatchObject({ state: "ready", deliveries: 0, deferred: 1 });
  expect((await claimOne(queue, { pod: "other" })).delivery).toBe(1);
});

test("a failed task waits and comes back; one that may not is dead with its error", async () => {
  const { queue, world } = await open(5);
  await queue.enqueue({ id: "t1" });
  const first = await claimOne(queue);
  const failed = await queue.fail(first.lease.id, { error: "out of memory" });
  expect(failed.body).toEqual({ state: "delayed", already: false });
  expect((await queue.fail(first.lease.id)).body).toEqual({ state: "delayed", already: true });
  expect((await queue.task("t1")).body).toMatchObject({ state: "delayed", error: "out of memory" });
  expect((await queue.claim()).body.reason).toBe("empty");
  world.advance(1_250);
  expect((await queue.task("t1")).body.state).toBe("ready");
  const second = await claimOne(queue);
  expect(second.delivery).toBe(2);
  await queue.fail(second.lease.id, { retry: false, error: "bad input", reason: "poison" });
  expect((await queue.dead()).tasks).toMatchObject([
    { id: "t1", reason: "poison", error: "bad input", deliveries: 2 },
  ]);
});

test("a refusal for want of capacity burns no delivery", async () => {
  const { queue, world } = await open(5, { max_deliveries: 3 });
  await queue.enqueue({ id: "t1" });
  for (let refusal = 0; refusal < 10; refusal++) {
    const task = await claimOne(queue);
    expect(task.delivery).toBe(1);
    await queue.fail(task.lease.id, { reason: "no_capacity" });
    world.advance(1_250);
  }
  expect((await queue.task("t1")).body).toMatchObject({ deliveries: 0, deferred: 10 });
  await queue.complete((await claimOne(queue)).lease.id);
  expect(await queue.status()).toMatchObject({ dead: 0 });
});

test("cancelled tasks never run, and one in flight is reported lost", async () => {
  const { queue, fleet } = await open();
  await queue.enqueue({ id: "waits" });
  await queue.enqueue({ id: "later", delay_ms: 5_000 });
  expect((await queue.cancel("waits")).body).toEqual({ id: "waits", state: "cancelled" });
  expect((await queue.cancel("later")).status).toBe(200);
  expect((await queue.claim()).body.reason).toBe("empty");
  await queue.enqueue({ id: "runs" });
  const task = await claimOne(queue);
  expect((await queue.cancel("runs")).status).toBe(200);
  expect((await fleet.beat({ leases: [task.lease.id] })).body.lost).toEqual([task.lease.id]);
  expect((await queue.complete(task.lease.id)).body.code).toBe("stale-lease");
  expect((await queue.task("runs")).body.state).toBe("cancelled");
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, in_flight: 0, dead: 0 });
});

test("past its time limit a task's lease cannot be renewed and it is redelivered", async () => {
  const { queue, fleet, world } = await open(5, {
    time_limit_ms: 3_000,
    lease_ttl_ms: 2_000,
    soft_time_limit_ms: 2_500,
  });
  await queue.enqueue({ id: "t1" });
  const { lease, deadline_at, soft_deadline_at } = await claimOne(queue);
  expect(deadline_at).toBe(world.now + 3_000);
  expect(soft_deadline_at).toBe(world.now + 2_500);
  world.advance(1_500);
  expect((await fleet.beat({ leases: [lease.id] })).body.lost).toEqual([]);
  world.advance(1_499);
  expect((await queue.claim()).body.reason).toBe("empty");
  world.advance(1);
  expect((await fleet.beat({ leases: [lease.id] })).body.lost).toEqual([lease.id]);
  expect((await claimOne(queue, { request_id: "again" })).delivery).toBe(2);
  expect((await queue.complete(lease.id)).body.code).toBe("stale-lease");
});

test("a lease is said to live no longer than its task may run, so that its grant is known in each repeat", async () => {
  const { queue, world } = await open(5, { time_limit_ms: 3_000, lease_ttl_ms: 60_000 });
  await queue.enqueue({ id: "t1", delay_ms: 500 });
  const { lease, deadline_at } = await claimOne(queue, { request_id: "r1", wait_ms: 20_000 });
  expect(lease).toEqual({ id: expect.any(String), ttl_ms: 3_000, expires_at: deadline_at });
  world.advance(1_000);
  expect((await claimOne(queue, { request_id: "r1" })).lease).toEqual(lease);
});

test.each([
  "[]",
  "{}",
  "9007199254740993",
  '"123"',
  '"null"',
  "null",
  '"\\u0000"',
  '"😀"',
  '"\u2028"',
  '{"a":1,"a":2}',
  " [1, 2.50, 1e3 ] ",
  `"${"x".repeat(60_000)}"`,
])("the payload %.30s comes back as sent through claim, expiry, fail, death and redrive", async (payload) => {
  const { queue, world } = await open(5, { lease_ttl_ms: 1_000 });
  const send = (text: string) =>
    world.send("/v1/queues/infer/tasks", {
      method: "POST",
      headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
      body: `{"id":"t1","payload":${text},"priority":1}`,
    });
  const claimText = async () => {
    const answer = await world.app.request("https://fleetgate.test/v1/queues/infer/claim", {
      method: "POST",
      headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
      body: JSON.stringify({ cluster: "a", pod: "worker-0" }),
    });
    return answer.text();
  };
  expect((await send(payload)).status).toBe(201);
  expect((await send(payload)).body.duplicate).toBe(true);
  expect((await send("[0]")).body.code).toBe("id-conflict");
  const sent = payload.trim();
  expect(await claimText()).toContain(`"payload":${sent},`);
  world.advance(1_000);
  const second = await claimText();
  expect(second).toContain(`"payload":${sent},`);
  await queue.fail(JSON.parse(second).tasks[0].lease.id, { retry: false });
  await queue.redrive({ ids: ["t1"] });
  const third = await claimText();
  expect(third).toContain(`"payload":${sent},`);
  await world.send("/v1/queues/infer/complete", {
    method: "POST",
    headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
    body: `{"lease":${JSON.stringify(JSON.parse(third).tasks[0].lease.id)},"result":${payload}}`,
  });
  const answer = await world.app.request("https://fleetgate.test/v1/queues/infer/tasks/t1", {
    headers: { authorization: "Bearer admin-key" },
  });
  expect(await answer.text()).toContain(`"result":${sent}}`);
});
