import { expect, inject, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { furnish } from "../support/furnish.ts";
import { keep } from "../support/kept.ts";
import { operationsOf, sampleOf, urlOf } from "../support/openapi.ts";
import { openQueue } from "../support/queue.ts";
import { Random } from "../support/random.ts";
import { type Heard, World } from "../support/world.ts";

const TTL_MS = 30_000;

/** Fails on an answer that says more than the store can have forgotten: a fault of ours, or less than nothing. */
function expectSound(call: string, { status, body }: Heard): void {
  expect(status, `${call}: ${JSON.stringify(body)}`).toBeLessThan(500);
  JSON.stringify(body, (field, value) => {
    if (typeof value === "number") expect(value, `${field} of ${call}`).toBeGreaterThanOrEqual(0);
    return value;
  });
}

/** What a crew of pods believes: slots and tasks it was given and has heard nothing else of. */
function crewOf({ world, fleet, queue }: Awaited<ReturnType<typeof openQueue>>, random: Random) {
  const slots = new Map<string, { expires_at: number }>();
  const tasks = new Map<string, { expires_at: number }>();
  let count = 0;
  const heard = async (call: string, answer: Promise<Heard>) => {
    const got = await answer;
    expectSound(call, got);
    return got.body;
  };
  const some = (held: Map<string, unknown>) => (held.size > 0 ? random.pick([...held.keys()]) : "l/none");
  const crew = {
    believes: () => [...slots.values(), ...tasks.values()].filter((one) => one.expires_at > world.now).length,
    slots,
    tasks,
    async acquire() {
      const body = await heard("acquire", fleet.acquire({ request_id: `r${count++}` }));
      if (body.granted) slots.set(body.lease.id, body.lease);
    },
    async claim() {
      const body = await heard("claim", queue.claim({ max: 2, request_id: `r${count++}` }));
      for (const { lease } of body.tasks ?? []) tasks.set(lease.id, lease);
    },
    async release() {
      const id = some(slots);
      await heard("release", fleet.release(id));
      slots.delete(id);
    },
    async complete() {
      const lease = some(tasks);
      await heard("complete", queue.complete(lease));
      tasks.delete(lease);
    },
    async fail() {
      const lease = some(tasks);
      await heard("fail", queue.fail(lease, { delay_ms: 0 }));
      tasks.delete(lease);
    },
    enqueue: () => heard("enqueue", queue.enqueue({ id: `t${count++}` })),
    async beat() {
      await fleet.beatMany(10);
      const leases = [...slots.keys(), ...tasks.keys()].slice(0, 100);
      const { lost } = await heard("heartbeat", fleet.beat({ leases }));
      for (const id of leases) {
        const held = slots.get(id) ?? tasks.get(id);
        if (held) held.expires_at = world.now + TTL_MS;
      }
      for (const id of lost) {
        slots.delete(id);
        tasks.delete(id);
      }
    },
    async look() {
      expectSound("status", await world.get("/v1/fleets/render"));
      expectSound("queue", await world.get("/v1/queues/infer"));
    },
  };
  const kinds = ["acquire", "claim", "release", "complete", "fail", "enqueue", "beat"] as const;
  return {
    ...crew,
    async work(steps: number) {
      for (let step = 0; step < steps; step++) {
        await crew[random.pick(kinds)]();
        world.advance(random.int(0, 500));
        await crew.look();
      }
    },
  };
}

test("after an older state is restored no more is given out than the gate allows, within one ttl for good", async () => {
  const room = await openQueue(10);
  const { world, fleet, queue } = room;
  const crew = crewOf(room, new Random(inject("seed")));
  await crew.work(60);
  const putBack = await keep(world);
  await crew.work(100);
  await putBack();
  await crew.work(60);
  for (let beat = 0; beat < 4; beat++) {
    await crew.beat();
    world.advance(10_000);
  }
  const { capacity, busy, live } = await fleet.status();
  expect({ live, capacity }).toEqual({ live: 10, capacity: 8 });
  expect(busy).toBe(crew.believes());
  expect(busy).toBeLessThanOrEqual(capacity);

  for (const id of crew.slots.keys()) await fleet.release(id);
  for (const lease of crew.tasks.keys()) await queue.complete(lease);
  world.advance(TTL_MS);
  for (let turn = 0; turn < 60; turn++) {
    await fleet.beatMany(10);
    for (const { lease } of (await queue.claim({ max: 10 })).body.tasks) {
      expect((await queue.complete(lease.id)).status).toBe(200);
    }
  }
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, in_flight: 0 });
  expect((await fleet.status()).busy).toBe(0);
}, 120_000);

test("with any single key gone every call answers, nothing is below zero, and the gate holds", async () => {
  const first = new World();
  await furnish(first);
  const operations = (await operationsOf(first)).filter(({ method }) => method !== "DELETE");
  const names = await first.redis<string[]>("KEYS", `${first.prefix}:*`);
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) {
    const world = new World();
    await furnish(world);
    const key = world.prefix + name.slice(first.prefix.length);
    await world.redis("DEL", key);
    const isolate = world.isolate();
    for (const operation of operations) {
      const answer = await isolate.call(operation.method, urlOf(operation), sampleOf(operation));
      expectSound(`${operation.id} without ${key}`, answer);
    }
    const fleet = fleetOf(isolate, "some-fleet");
    await fleet.beatMany(5);
    for (let asked = 0; asked < 12; asked++) await fleet.acquire({ pod: "worker-1" });
    const { live, busy, over_by } = await fleet.status();
    expect({ over_by, over: Math.max(0, busy - Math.max(1, live)) }, key).toEqual({ over_by: 0, over: 0 });
    await isolate.settle();
    await isolate.app.scheduled();
  }
}, 240_000);
