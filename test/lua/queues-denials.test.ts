import { describe, expect, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { claimOne, fill, idsOf, openQueue, queueOf, type TestQueue } from "../support/queue.ts";
import type { World } from "../support/world.ts";

/** One slot, taken, and one task that waits for it: `here` has just heard so, `there` is another isolate. */
async function refused() {
  const { world, queue: there, fleet } = await openQueue(1);
  const here = queueOf(world.isolate());
  await there.enqueue({ id: "t1" });
  await there.enqueue({ id: "t2", max_deliveries: 1 });
  const held = await claimOne(there);
  expect((await here.claim()).body).toMatchObject({ tasks: [], reason: "at_capacity" });
  return { world, here, there, fleet, held: held.lease.id as string };
}

const reasonOf = async (queue: TestQueue, fields = {}) => (await queue.claim(fields)).body.reason;

/** The same queue in an isolate that counts what it asks of the store. */
function counted(world: World) {
  const { lane, isolate } = world.faulty("none");
  return { queue: queueOf(isolate), asked: lane.seen };
}

describe("a claim's denial is remembered", () => {
  test("for 200 ms, and then asked anew", async () => {
    const { world, here, there, held } = await refused();
    await there.complete(held);
    world.advance(199);
    const { body } = await here.claim({ attempt: 3 });
    expect(body).toMatchObject({ tasks: [], reason: "at_capacity" });
    expect(body.retry_after_ms).toBeGreaterThanOrEqual(2_000);
    world.advance(1);
    expect(idsOf(await here.claim())).toEqual(["t2"]);
  });

  test("by the isolate that heard it and no other", async () => {
    const { here, there, held } = await refused();
    await there.complete(held);
    expect(await reasonOf(here)).toBe("at_capacity");
    expect(idsOf(await queueOf(here.world.isolate()).claim())).toEqual(["t2"]);
  });

  test("but never that a queue is empty: a task that falls due is had at once", async () => {
    const { world, queue } = await openQueue();
    await queue.enqueue({ id: "t1", delay_ms: 50 });
    expect(await reasonOf(queue)).toBe("empty");
    world.advance(50);
    expect(idsOf(await queue.claim())).toEqual(["t1"]);
  });

  test("so that a lapsed delivery comes back at most 200 ms late", async () => {
    const { world, queue } = await openQueue(1, { lease_ttl_ms: 2_000 });
    await fill(queue, 2);
    await claimOne(queue);
    world.advance(1_999);
    expect(await reasonOf(queue)).toBe("at_capacity");
    world.advance(199);
    expect(await reasonOf(queue)).toBe("at_capacity");
    world.advance(1);
    expect((await claimOne(queue)).delivery).toBe(2);
  });

  test("for its queue, not for another of the fleet, nor for plain slots", async () => {
    const { world, queue, fleet } = await openQueue(3);
    const other = queueOf(world, "other");
    await other.configure();
    await fill(queue, 3);
    await queue.claim({ max: 2 });
    expect(await reasonOf(queue)).toBe("at_capacity");
    await other.enqueue({ id: "urgent", class: "high" });
    expect(idsOf(await other.claim())).toEqual(["urgent"]);
    expect((await fleet.acquire({ class: "high" })).body.granted).toBe(false);
  });

  test("and a pause is told apart from it", async () => {
    const { here, fleet } = await refused();
    await here.configure({ paused: true });
    expect(await reasonOf(here)).toBe("paused");
    await here.configure();
    expect(await reasonOf(here)).toBe("at_capacity");
    await fleetOf(here.world).policy({ paused: true });
    expect(await reasonOf(here)).toBe("paused");
    expect(await fleet.status()).toMatchObject({ busy: 1 });
  });
});

describe("a claim that got all that could be had", () => {
  test("is remembered as the denial of the next", async () => {
    const { world, queue } = await openQueue(2);
    const here = counted(world);
    await fill(queue, 2);
    await here.queue.claim({ max: 2 });
    await here.queue.world.settle();
    const before = await here.asked();
    expect(await reasonOf(here.queue)).toBe("at_capacity");
    world.advance(199);
    expect(await reasonOf(here.queue)).toBe("at_capacity");
    expect(await here.asked()).toBe(before);
    world.advance(1);
    await here.queue.claim();
    expect(await here.asked()).toBe(before + 1);
  });

  test("tells nothing where tasks and slots may be left", async () => {
    const { queue } = await openQueue(10);
    await fill(queue, 4);
    for (const id of ["t0", "t1", "t2", "t3"]) expect(idsOf(await queue.claim())).toEqual([id]);
  });

  test("tells nothing of a class whose share was changed, so that it may stand behind", async () => {
    const { queue, fleet } = await openQueue(5);
    await fleet.policy({ ttl_ms: 86_400_000, classes: { normal: { ratio: 0.8 }, high: { ratio: 0.2 } } });
    await fill(queue, 4);
    await queue.enqueue({ id: "risen", class: "high" });
    await fleet.policy({ ttl_ms: 86_400_000 });
    expect(idsOf(await queue.claim({ max: 4 }))).toEqual(["t0", "t1", "t2", "t3"]);
    expect(idsOf(await queue.claim())).toEqual(["risen"]);
  });
});

describe("the memory of claims ends at once with a change that the isolate itself sees:", () => {
  test.each<[string, (queue: TestQueue, held: string) => Promise<unknown>]>([
    ["a completion", (queue, held) => queue.complete(held)],
    ["a failure that goes back at once", (queue, held) => queue.fail(held, { delay_ms: 0 })],
    ["a cancelled delivery", (queue) => queue.cancel("t0")],
    ["a task of another class", (queue) => queue.enqueue({ class: "high" })],
    ["a batch with one", (queue) => queue.batch([{ payload: 1, class: "high" }])],
    ["a pod that leaves", ({ world }) => fleetOf(world).leave()],
    ["a join", ({ world }) => fleetOf(world).beatMany(3, "b")],
    ["a policy", ({ world }) => fleetOf(world).policy({ classes: { normal: { ratio: 1 } } })],
  ])("%s", async (_, change) => {
    const { queue, fleet } = await openQueue(2);
    await fleet.policy({ ttl_ms: 86_400_000, classes: { normal: { ratio: 0.5 }, high: { ratio: 1 } } });
    await fill(queue, 1);
    await queue.enqueue({ id: "t1" });
    const first = await claimOne(queue);
    expect(first.id).toBe("t0");
    expect(await reasonOf(queue)).toBe("at_capacity");
    await change(queue, first.lease.id);
    expect(idsOf(await queue.claim())).toHaveLength(1);
  });

  test("also where the task came while the denial was on its way", async () => {
    const { world, queue } = await openQueue(2);
    await fill(queue, 2);
    await claimOne(queue);
    const { lane, isolate } = world.faulty("holdAnswer", "timers");
    const slow = queueOf(isolate);
    const denial = slow.claim();
    await lane.held();
    expect((await slow.enqueue({ id: "urgent", class: "high" })).status).toBe(201);
    await lane.letGo();
    expect((await denial).body.reason).toBe("at_capacity");
    expect(idsOf(await slow.claim())).toEqual(["urgent"]);
  });

  test("but not with a task of another queue, nor with one that is delayed", async () => {
    const { world, here, there, held } = await refused();
    const other = queueOf(world, "other");
    await other.configure();
    await there.complete(held);
    await queueOf(here.world, "other").enqueue();
    await here.enqueue({ delay_ms: 60_000 });
    expect(await reasonOf(here)).toBe("at_capacity");
    world.advance(200);
    expect(idsOf(await here.claim())).toEqual(["t2"]);
  });
});

describe("a claim's request_id", () => {
  test("that was denied here is answered from memory, until it may have tasks", async () => {
    const { world, here, there, held } = await refused();
    expect(await reasonOf(here, { request_id: "r1" })).toBe("at_capacity");
    await there.complete(held);
    world.advance(199);
    expect(await reasonOf(here, { request_id: "r1" })).toBe("at_capacity");
    world.advance(1);
    const unheard = await here.claim({ request_id: "r1" });
    expect(idsOf(unheard)).toEqual(["t2"]);
    expect(await reasonOf(here)).toBe("at_capacity");
    expect((await here.claim({ request_id: "r1" })).body.tasks).toEqual(unheard.body.tasks);
    world.advance(200);
    expect((await here.claim({ request_id: "r1" })).body.tasks).toEqual(unheard.body.tasks);
  });

  test("that waits is asked of the store once, and then polls the memory while it lasts", async () => {
    const { world, queue: there } = await openQueue(1);
    const { queue, asked } = counted(world);
    await fill(there, 2);
    await queue.claim();
    await queue.world.settle();
    world.advance(200);
    const before = await asked();
    expect(await reasonOf(queue, { request_id: "r1", wait_ms: 199 })).toBe("at_capacity");
    expect(await asked()).toBe(before + 1);
  });
});
