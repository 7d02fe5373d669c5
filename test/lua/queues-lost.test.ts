import { expect, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { keep } from "../support/kept.ts";
import { claimOne, idsOf, openQueue, queueOf } from "../support/queue.ts";

test("a task whose record is lost is dead when its turn comes, and enqueued anew by its id", async () => {
  const { world, queue, fleet } = await openQueue();
  await queue.enqueue({ id: "t1", payload: "first" });
  await world.redis("DEL", queue.keys.record("t1"));
  expect((await queue.task("t1")).status).toBe(404);
  const { body } = await queue.claim();
  expect(body).toEqual({ tasks: [], reason: "empty", retry_after_ms: expect.any(Number) });
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 1 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await queue.dead()).tasks).toMatchObject([{ id: "t1", reason: "record-lost", deliveries: 1 }]);
  expect((await queue.task("t1")).body).toMatchObject({ state: "dead", reason: "record-lost" });

  expect((await queue.redrive()).body.redriven).toBe(1);
  expect((await queue.claim()).body.reason).toBe("empty");
  expect(await queue.status()).toMatchObject({ dead: 1 });

  expect((await queue.enqueue({ id: "t1", payload: "second" })).body).toEqual({
    id: "t1",
    state: "ready",
    duplicate: false,
  });
  expect(await queue.status()).toMatchObject({ ready: 1, dead: 0 });
  const task = await claimOne(queue);
  expect(task).toMatchObject({ id: "t1", payload: "second", delivery: 1 });
  expect((await queue.complete(task.lease.id)).status).toBe(200);
});

test("a task enqueued anew after its record was lost has no failure of before, and leaves none", async () => {
  const { world, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  await queue.fail((await claimOne(queue)).lease.id, { delay_ms: 0, error: "of before" });
  await world.redis("DEL", queue.keys.record("t1"));
  expect((await queue.claim()).body.reason).toBe("empty");
  expect((await queue.task("t1")).body).toMatchObject({ reason: "record-lost", error: "of before" });
  await queue.enqueue({ id: "t1" });
  expect((await queue.task("t1")).body).not.toHaveProperty("error");
  await queue.complete((await claimOne(queue)).lease.id);
  expect(await world.redis("EXISTS", queue.keys.failure("t1"))).toBe(0);
});

test("of several tasks claimed together, one whose record is lost takes no other with it", async () => {
  const { world, queue } = await openQueue();
  for (const id of ["t1", "t2", "t3"]) await queue.enqueue({ id });
  await world.redis("DEL", queue.keys.record("t2"));
  expect(idsOf(await queue.claim({ max: 3 }))).toEqual(["t1", "t3"]);
  expect(await queue.status()).toMatchObject({ in_flight: 2, dead: 1 });
});

test("a stray copy of a task that is completed is dropped, not dead", async () => {
  const { world, queue, fleet } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const stray = await world.redis<string[]>("ZRANGE", queue.keys.ready, 0, -1, "WITHSCORES");
  await queue.complete((await claimOne(queue)).lease.id, { result: 1 });
  await world.redis("ZADD", queue.keys.ready, stray[1] ?? "", stray[0] ?? "");
  world.advance(1);
  expect((await queue.claim()).body).toMatchObject({ tasks: [], reason: "empty" });
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await queue.task("t1")).body).toMatchObject({ state: "completed", result: 1 });
});

test("of two copies of one task only one completion is accepted", async () => {
  const { world, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  await world.redis("DEL", queue.keys.record("t1"));
  world.advance(1);
  await queue.enqueue({ id: "t1" });
  const leases = [(await claimOne(queue)).lease.id, (await claimOne(queue, { pod: "other" })).lease.id];
  const answers = [await queue.complete(leases[0] ?? ""), await queue.complete(leases[1] ?? "")];
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  world.advance(30_000);
  expect((await queue.claim()).body.reason).toBe("empty");
  expect((await queue.task("t1")).body.state).toBe("completed");
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 0 });
});

test.each(["ready", "timers", "running", "dead"] as const)(
  "when %s is lost, enqueueing again by id brings every unfinished task back, each once",
  async (name) => {
    const { world, queue, fleet } = await openQueue(50, { lease_ttl_ms: 2_000 });
    const ids = ["flying", "failed", "dead", "waits", "later"];
    const fields: Record<string, object> = { later: { delay_ms: 60_000 } };
    const enqueue = (id: string) => queue.enqueue({ id, ...fields[id] });
    await enqueue("flying");
    await claimOne(queue);
    await enqueue("failed");
    await queue.fail((await claimOne(queue)).lease.id, { delay_ms: 60_000 });
    await enqueue("dead");
    await queue.fail((await claimOne(queue)).lease.id, { retry: false });
    await enqueue("waits");
    await enqueue("later");
    await world.redis("DEL", queue.keys[name]);
    world.advance(2_000);
    await world.app.scheduled();
    for (let turn = 0; turn < 2; turn++) {
      for (const id of ids) expect((await enqueue(id)).body).toMatchObject({ duplicate: true });
    }
    await queue.redrive();
    world.advance(60_000);
    const seen: string[] = [];
    for (let turn = 0; turn < 10; turn++) {
      for (const { id, lease } of (await queue.claim({ max: 10 })).body.tasks) {
        seen.push(id);
        expect((await queue.complete(lease.id)).status).toBe(200);
      }
    }
    expect(seen.sort()).toEqual([...ids].sort());
    expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, in_flight: 0, dead: 0 });
    expect(await fleet.status()).toMatchObject({ busy: 0 });
  },
);

test("a restored older state of the store refuses what it does not know, and every task still ends once", async () => {
  const { world, queue, fleet } = await openQueue(50, { lease_ttl_ms: 2_000 });
  await queue.batch(Array.from({ length: 20 }, (_, at) => ({ id: `t${at}`, payload: at })));
  const early = (await queue.claim({ max: 10 })).body.tasks;
  const putBack = await keep(world);
  for (const { lease } of early) await queue.complete(lease.id);
  const late = (await queue.claim({ max: 10 })).body.tasks;
  await putBack();
  for (const { lease } of late) expect((await queue.complete(lease.id)).body.code).toBe("stale-lease");
  for (const { lease } of early.slice(0, 5)) expect((await queue.complete(lease.id)).status).toBe(200);
  world.advance(2_000);
  const ended: string[] = early.slice(0, 5).map(({ id }: { id: string }) => id);
  for (let turn = 0; turn < 4; turn++) {
    for (const { id, lease } of (await queue.claim({ max: 10 })).body.tasks) {
      ended.push(id);
      expect((await queue.complete(lease.id)).status).toBe(200);
    }
  }
  expect(ended).toHaveLength(20);
  expect(new Set(ended).size).toBe(20);
  expect(await fleet.status()).toMatchObject({ busy: 0 });
});

test("a claim whose payloads did not arrive is 503, and its repeat gives the same tasks", async () => {
  const { world, queue, fleet } = await openQueue();
  await queue.batch(Array.from({ length: 5 }, (_, at) => ({ id: `t${at}`, payload: at })));
  const { isolate } = world.faulty("drop", "task:t0");
  const broken = await queueOf(isolate).claim({ max: 3, request_id: "r1" });
  expect(broken.status).toBe(503);
  expect(broken.headers.get("retry-after")).toBeTruthy();
  expect(await fleet.status()).toMatchObject({ busy: 3 });
  const again = await queue.claim({ max: 3, request_id: "r1" });
  expect(idsOf(again)).toEqual(["t0", "t1", "t2"]);
  expect(again.body.tasks.map(({ delivery }: { delivery: number }) => delivery)).toEqual([1, 1, 1]);
  expect(await fleet.status()).toMatchObject({ busy: 3 });
});

test("a claim whose payloads did not arrive and that is not repeated comes back when its leases lapse", async () => {
  const { world, queue } = await openQueue(10, { lease_ttl_ms: 2_000 });
  await queue.enqueue({ id: "t0", payload: 1 });
  const { isolate } = world.faulty("drop", "task:t0");
  expect((await queueOf(isolate).claim()).status).toBe(503);
  expect((await queue.task("t0")).body.state).toBe("in_flight");
  world.advance(2_000);
  expect(await claimOne(queue)).toMatchObject({ id: "t0", payload: 1, delivery: 2 });
});

test("an enqueue, a complete and a fail whose answer was lost may be repeated", async () => {
  const { world, queue } = await openQueue();
  const lossy = () => queueOf(world.faulty("drop", "timers").isolate);
  expect((await lossy().enqueue({ id: "t0" })).status).toBe(503);
  expect((await queue.enqueue({ id: "t0" })).body).toEqual({ id: "t0", state: "ready", duplicate: true });
  const first = await claimOne(queue);
  expect((await lossy().fail(first.lease.id, { delay_ms: 0 })).status).toBe(503);
  expect((await queue.fail(first.lease.id, { delay_ms: 0 })).body).toEqual({ state: "ready", already: true });
  const second = await claimOne(queue);
  expect(second.delivery).toBe(2);
  expect((await lossy().complete(second.lease.id)).status).toBe(503);
  expect((await queue.complete(second.lease.id)).body).toEqual({ completed: true, already: true });
  expect(await fleetOf(world).status()).toMatchObject({ busy: 0 });
});
