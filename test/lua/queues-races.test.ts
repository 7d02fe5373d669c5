import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, openQueue, queueOf } from "../support/queue.ts";

/** A second isolate whose next call to the store stays on its way until `arrive`. */
async function travelling(
  world: Awaited<ReturnType<typeof openQueue>>["world"],
  send: (isolate: typeof world) => Promise<unknown>,
) {
  const { lane, isolate } = world.faulty("holdRequest", "members");
  const sent = send(isolate);
  await lane.held();
  return {
    async arrive() {
      await lane.letGo();
      return sent;
    },
  };
}

test("a renewal that arrives after the task was handed out again does not bring the old delivery back", async () => {
  const { world, fleet, queue } = await openQueue(10, { lease_ttl_ms: 2_000 });
  await queue.enqueue({ id: "t1" });
  const first = await claimOne(queue);
  world.advance(1_999);
  const beat = await travelling(world, (isolate) => fleetOf(isolate).beat({ leases: [first.lease.id] }));
  world.advance(1);
  const second = await claimOne(queue, { pod: "other" });
  expect(await beat.arrive()).toMatchObject({ body: { lost: [first.lease.id] } });
  expect(await fleet.status()).toMatchObject({ busy: 1 });
  expect((await queue.complete(first.lease.id)).body.code).toBe("stale-lease");
  expect((await queue.complete(second.lease.id)).body).toEqual({ completed: true, already: false });
});

test("a renewal that arrives after fail cannot make the delivery fail a second time", async () => {
  const { world, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const task = await claimOne(queue);
  const beat = await travelling(world, (isolate) => fleetOf(isolate).beat({ leases: [task.lease.id] }));
  world.advance(5);
  await queue.fail(task.lease.id, { delay_ms: 60_000 });
  await beat.arrive();
  world.advance(5);
  expect((await queue.fail(task.lease.id, { delay_ms: 0 })).body).toEqual({
    state: "delayed",
    already: true,
  });
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 1, in_flight: 0 });
  expect((await queue.complete(task.lease.id)).body.code).toBe("stale-lease");
});

test("a renewal that arrives after complete leaves the task completed, also when its pod leaves", async () => {
  const { world, fleet, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const task = await claimOne(queue);
  const beat = await travelling(world, (isolate) => fleetOf(isolate).beat({ leases: [task.lease.id] }));
  world.advance(5);
  await queue.complete(task.lease.id, { result: "first" });
  await beat.arrive();
  expect((await queue.complete(task.lease.id, { result: "second" })).body.already).toBe(true);
  await fleet.leave();
  expect((await queue.task("t1")).body).toMatchObject({ state: "completed", result: "first" });
  expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
});

test("a renewal that arrives after a cancel tells its worker so", async () => {
  const { world, fleet, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const task = await claimOne(queue);
  const beat = await travelling(world, (isolate) => fleetOf(isolate).beat({ leases: [task.lease.id] }));
  world.advance(5);
  await queue.cancel("t1");
  expect(await beat.arrive()).toMatchObject({ body: { lost: [task.lease.id] } });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
});

test("of complete and fail together, many times over, exactly one is accepted", async () => {
  const { queue, fleet, world } = await openQueue(20);
  const other = queueOf(world.isolate());
  for (let round = 0; round < 30; round++) {
    await queue.enqueue({ id: `t${round}` });
    const task = await claimOne(queue);
    const answers = await Promise.all([
      queue.complete(task.lease.id),
      other.fail(task.lease.id, { retry: false }),
      queue.cancel(`t${round}`),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  }
  expect(await fleet.status()).toMatchObject({ busy: 0 });
});

test("fifty claims at once hand out each task once, and no more slots than there are", async () => {
  const { queue, fleet, world } = await openQueue(50);
  const isolates = [queue, queueOf(world.isolate()), queueOf(world.isolate())];
  await queue.batch(Array.from({ length: 60 }, (_, at) => ({ id: `t${at}`, payload: at })));
  const held = await lease(fleet);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => (isolates[at % 3] ?? queue).claim({ pod: `p${at}` })),
  );
  const ids = answers.flatMap(({ body }) => body.tasks.map(({ id }: { id: string }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(39);
  expect(await fleet.status()).toMatchObject({ busy: 40 });
  await fleet.release(held);
});
