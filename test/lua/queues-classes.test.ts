import { expect, test } from "vitest";
import { makeKeys } from "../../src/redis/keys.ts";
import { lease, type TestFleet } from "../support/fleet.ts";
import { claimOne, fill, idsOf, openQueue } from "../support/queue.ts";

const ratios = (fleet: TestFleet, classes: Record<string, number>) =>
  fleet.policy({
    ttl_ms: 86_400_000,
    classes: Object.fromEntries(Object.entries(classes).map(([name, ratio]) => [name, { ratio }])),
  });

test("tasks of a class that lost its share stand aside for those that may use the reserve", async () => {
  const { queue, fleet } = await openQueue(10);
  await ratios(fleet, { normal: 0.8, high: 1, batch: 1 });
  await fill(queue, 30, { class: "batch", priority: 9 });
  await ratios(fleet, { normal: 0.8, high: 1, batch: 0.3 });
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  expect((await queue.claim()).body.reason).toBe("at_capacity");
  await queue.enqueue({ id: "n", class: "normal" });
  await queue.enqueue({ id: "h", class: "high" });
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["h"]);
  expect((await queue.claim({ max: 10 })).body.reason).toBe("at_capacity");
});

test("normal tasks pass those of a class whose share fell below theirs", async () => {
  const { queue, fleet } = await openQueue(10);
  await ratios(fleet, { normal: 0.8, gold: 1 });
  await fill(queue, 3, { class: "gold" });
  await ratios(fleet, { normal: 0.8, gold: 0.2 });
  await queue.enqueue({ id: "n" });
  const held = [await lease(fleet), await lease(fleet)];
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["n"]);
  await fleet.release(...held);
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["t0"]);
});

test("waiting tasks of a class that was raised use its new share", async () => {
  const { queue, fleet } = await openQueue(10);
  await ratios(fleet, { normal: 0.8, low: 0.2 });
  await queue.enqueue({ id: "n" });
  await fill(queue, 3, { class: "low" });
  await ratios(fleet, { normal: 0.8, low: 1 });
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["t0", "t1"]);
});

test("a policy put over one that cannot be read may have changed shares too", async () => {
  const { queue, fleet, world } = await openQueue(10);
  await ratios(fleet, { normal: 0.8, high: 1, batch: 1 });
  await fill(queue, 30, { class: "batch", priority: 9 });
  await world.redis("SET", makeKeys(world.prefix).fleet("render").policy, "junk");
  await ratios(fleet, { normal: 0.8, high: 1, batch: 0.3 });
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  await queue.enqueue({ id: "h", class: "high" });
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["h"]);
});

test("a class that the policy has lost counts as normal, and its tasks keep their class", async () => {
  const { queue, fleet } = await openQueue(10);
  await ratios(fleet, { normal: 0.5, gold: 1 });
  await fill(queue, 10, { class: "gold" });
  await ratios(fleet, { normal: 0.5 });
  const { body } = await queue.claim({ max: 10 });
  expect(body.tasks).toHaveLength(5);
  for (const task of body.tasks) expect(task.class).toBe("gold");
  expect((await queue.claim()).body.reason).toBe("at_capacity");
  const { id } = body.tasks[0].lease;
  expect((await fleet.beat({ pod: "worker-0", leases: [id] })).body.lost).toEqual([]);
  expect((await queue.complete(id)).status).toBe(200);
});

test("tasks that moved since their class has another share are found, repeated, cancelled and redriven", async () => {
  const { queue, fleet, world } = await openQueue(10, { lease_ttl_ms: 1_000, max_deliveries: 1 });
  await ratios(fleet, { normal: 0.8, gold: 1 });
  await fill(queue, 6, { class: "gold" });
  await ratios(fleet, { normal: 0.8, gold: 0.2 });
  expect(idsOf(await queue.claim({ max: 2 }))).toEqual(["t0", "t1"]);
  expect((await queue.enqueue({ id: "t3", payload: 3, class: "gold" })).body).toMatchObject({
    state: "ready",
    duplicate: true,
  });
  expect((await queue.task("t4")).body.state).toBe("ready");
  expect((await queue.cancel("t5")).status).toBe(200);
  expect(await queue.status()).toMatchObject({ ready: 3, in_flight: 2 });
  world.advance(1_000);
  expect(await queue.status()).toMatchObject({ ready: 3, dead: 2 });
  await queue.redrive();
  expect((await queue.task("t0")).body.state).toBe("ready");
  const seen: string[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const task = await claimOne(queue);
    seen.push(task.id);
    await queue.complete(task.lease.id);
  }
  expect(seen).toEqual(["t0", "t1", "t2", "t3", "t4"]);
  expect(await queue.status()).toMatchObject({ backlog: 0, dead: 0 });
});

test("thousands of tasks of a lowered class are passed within a few claims", async () => {
  const { queue, fleet } = await openQueue(10);
  await ratios(fleet, { normal: 0.8, gold: 1 });
  await fill(queue, 3_000, { class: "gold" });
  await ratios(fleet, { normal: 0.8, gold: 0.1 });
  await queue.enqueue({ id: "n" });
  await lease(fleet);
  const answers = [await queue.claim(), await queue.claim()];
  expect(answers.flatMap(idsOf)).toEqual(["n"]);
});

test("two classes that rank as one share their line by priority and age", async () => {
  const { queue, fleet, world } = await openQueue(10);
  await ratios(fleet, { normal: 0.8, twin: 0.7999 });
  await queue.enqueue({ id: "first" });
  world.advance(1);
  await queue.enqueue({ id: "second", class: "twin" });
  world.advance(1);
  await queue.enqueue({ id: "urgent", priority: 1 });
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["urgent", "first", "second"]);
});

test("more high tasks than there are slots leave normal ones waiting, and none is taken twice", async () => {
  const { queue, fleet } = await openQueue(10);
  await queue.enqueue({ id: "n" });
  await fill(queue, 12, { class: "high" });
  const { body } = await queue.claim({ max: 10 });
  expect(body.tasks.map(({ id }: { id: string }) => id)).toEqual(
    Array.from({ length: 10 }, (_, at) => `t${at}`),
  );
  expect((await queue.claim()).body.reason).toBe("at_capacity");
  for (const { lease } of body.tasks) await queue.complete(lease.id);
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["t10", "t11", "n"]);
  expect(await fleet.status()).toMatchObject({ busy: 3 });
});

test("a worker with one slot to fill never sits on a second task", async () => {
  const { queue, world } = await openQueue(4);
  await fill(queue, 2);
  await queue.enqueue({ id: "later", delay_ms: 3_000 });
  const first = await claimOne(queue, { pod: "w1" });
  const second = await claimOne(queue, { pod: "w2" });
  await queue.enqueue({ id: "urgent", class: "high" });
  expect((await claimOne(queue, { pod: "w3" })).id).toBe("urgent");
  world.advance(2_999);
  await queue.complete(first.lease.id);
  expect((await queue.claim({ pod: "w1" })).body.reason).toBe("empty");
  world.advance(1);
  expect((await claimOne(queue, { pod: "w1", request_id: "r2" })).id).toBe("later");
  expect((await queue.complete(second.lease.id)).status).toBe(200);
});
