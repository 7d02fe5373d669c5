import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, fill, idsOf, numbered, openQueue, queueOf } from "../support/queue.ts";

test("leave gives slots and tasks of every queue back, each in its place, and nobody else's", async () => {
  const { queue, fleet, world } = await openQueue(50);
  const other = queueOf(world, "other");
  await other.configure();
  await queue.batch(numbered(5));
  await other.batch(numbered(3));
  const mine = [...(await queue.claim({ max: 3 })).body.tasks, ...(await other.claim({ max: 2 })).body.tasks];
  const slots = [await lease(fleet), await lease(fleet)];
  const namesake = await claimOne(queue, { cluster: "b" });
  const older = await claimOne(queue, { instance: "1" });
  const { body } = await fleet.leave();
  const held = mine.map(({ lease }: { lease: { id: string } }) => lease.id);
  expect(body.left).toBe(true);
  expect(body.released.sort()).toEqual([...slots, ...held].sort());
  expect(await fleet.status()).toMatchObject({ busy: 2 });
  expect(await queue.status()).toMatchObject({ ready: 3, in_flight: 2 });
  expect(await other.status()).toMatchObject({ ready: 3, in_flight: 0 });
  for (const id of ["t0", "t1", "t2"]) {
    expect((await queue.task(id)).body).toMatchObject({ state: "ready", deliveries: 0, deferred: 1 });
  }
  for (const id of held) expect((await queue.complete(id)).body.code).toBe("stale-lease");
  expect(idsOf(await queue.claim({ max: 10, pod: "next" }))).toEqual(["t0", "t1", "t2"]);
  expect((await queue.complete(namesake.lease.id)).status).toBe(200);
  expect((await queue.complete(older.lease.id)).status).toBe(200);
});

test("tasks handed back start elsewhere at once, at their first delivery", async () => {
  const { queue, fleet } = await openQueue(5, { max_deliveries: 1 });
  await queue.enqueue({ id: "t1" });
  await claimOne(queue);
  await fleet.leave();
  expect((await queue.claim({ pod: "next" })).body.tasks).toMatchObject([{ id: "t1", delivery: 1 }]);
});

test("a pod that holds thousands of tasks hands all of them back, and none is lost", async () => {
  const count = 4_100;
  const { queue, fleet } = await openQueue(0, { lease_ttl_ms: 60_000 });
  await fleet.batch(
    "b",
    Array.from({ length: 82 }, (_, at) => ({ pod: `w${at}`, slots: 64 })),
  );
  await fill(queue, count);
  for (let claimed = 0; claimed < count; claimed += 10) await queue.claim({ max: 10 });
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: count });
  const { status, body } = await fleet.leave();
  expect([status, body.released?.length]).toEqual([200, count]);
  expect(await queue.status()).toMatchObject({ ready: count, in_flight: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await queue.task("t4099")).body).toMatchObject({ state: "ready", deliveries: 0, deferred: 1 });
});

test("leaving twice, and after a lapse, hands nothing back again", async () => {
  const { queue, fleet, world } = await openQueue(5, { lease_ttl_ms: 1_000 });
  for (const id of ["t1", "t2"]) await queue.enqueue({ id });
  const [first] = (await queue.claim({ max: 2 })).body.tasks;
  world.advance(999);
  await fleet.beat({ leases: [first.lease.id] });
  world.advance(1);
  expect((await fleet.leave()).body.released).toEqual([first.lease.id]);
  expect((await fleet.leave()).body).toEqual({ left: false, released: [] });
  expect((await queue.task("t1")).body).toMatchObject({ state: "ready", deliveries: 0, deferred: 1 });
  expect((await queue.task("t2")).body).toMatchObject({ state: "ready", deliveries: 1, deferred: 0 });
  expect(await queue.status()).toMatchObject({ ready: 2, in_flight: 0 });
});

test("a leave whose second half was lost is repeated to its end", async () => {
  const { queue, fleet, world } = await openQueue(5);
  await queue.enqueue({ id: "t1" });
  const task = await claimOne(queue);
  const { isolate } = world.faulty("refuse", "timers");
  expect((await fleetOf(isolate).leave()).status).toBe(503);
  expect((await queue.task("t1")).body.state).toBe("in_flight");
  expect((await fleet.leave()).body.released).toEqual([task.lease.id]);
  expect((await queue.task("t1")).body).toMatchObject({ state: "ready", deliveries: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
});

test("releasing a task's lease is missing and changes nothing", async () => {
  const { queue, fleet, world } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const task = await claimOne(queue);
  const slot = await lease(fleet);
  expect((await fleet.release(task.lease.id, slot)).body).toEqual({
    released: [slot],
    missing: [task.lease.id],
  });
  const before = await world.snapshot();
  expect((await fleet.release(task.lease.id)).body).toEqual({ released: [], missing: [task.lease.id] });
  expect(await world.snapshot()).toBe(before);
  expect((await queue.complete(task.lease.id)).status).toBe(200);
});

test("a pod that leaves with hundreds of tasks hands all of them back", async () => {
  const { queue, fleet } = await openQueue(1_000);
  for (let first = 0; first < 600; first += 100) await queue.batch(numbered(100, {}, first));
  for (let turn = 0; turn < 60; turn++) await queue.claim({ max: 10 });
  expect((await fleet.leave()).body.released).toHaveLength(600);
  expect(await queue.status()).toMatchObject({ ready: 600, in_flight: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
});
