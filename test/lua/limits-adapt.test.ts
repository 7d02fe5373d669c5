import { expect, test } from "vitest";
import type { QueueLoad } from "../../src/rates/load.ts";
import { limitOf, type TestLimit } from "../support/limit.ts";
import { World } from "../support/world.ts";

const rules = {
  capacity: 10,
  refill_per_s: 10,
  adapt: { queue: "renders", target_wait_ms: 10_000, min_per_s: 1, max_per_s: 50 },
};

/** A queue whose load a test sets by hand. */
function setUp(load: QueueLoad | undefined) {
  const queue = { load };
  const world = new World({ loadOf: async () => queue.load });
  return { world, queue, limit: limitOf(world) };
}

interface Second {
  wait_s: number;
  rate: number;
  drained: number;
  could: number;
}

/** Producers that always want more, through two isolates; `drains` tasks a second end. Backlog and rate each second. */
async function simulate(seconds: number, drains: (second: number) => number): Promise<Second[]> {
  let backlog = 0;
  const ended: number[] = [];
  const loadOf = async () => {
    const last = ended.slice(-10);
    return {
      backlog,
      drain_per_s: last.reduce((sum, each) => sum + each, 0) / Math.max(1, last.length),
    };
  };
  const world = new World({ loadOf });
  const limit = limitOf(world);
  const producers = [limit, limitOf(world.isolate())];
  await limit.set({ ...rules, capacity: 30 });
  const history: Second[] = [];
  for (let second = 0; second < seconds; second++) {
    const producer = producers[second % 2] as TestLimit;
    const { remaining, rate_per_s: rate } = (await producer.peek()).body;
    if ((await producer.take({ cost: Math.max(0.001, remaining) })).body.allowed) backlog += remaining;
    const drained = Math.min(backlog, drains(second));
    backlog -= drained;
    ended.push(drained);
    world.advance(1_000);
    await Promise.all(world.background.splice(0));
    history.push({ wait_s: backlog / drains(second), rate, drained, could: drains(second) });
  }
  return history;
}

test("when the drain halves and later doubles, the wait is back under its target within 60 s and nothing swings", async () => {
  const history = await simulate(300, (second) => (second < 60 || second >= 180 ? 10 : 5));
  const late = history.slice(120, 180);
  expect(Math.max(...history.slice(60, 120).map(({ wait_s }) => wait_s))).toBeGreaterThan(10);
  for (const { wait_s } of late) expect(wait_s).toBeLessThanOrEqual(10);
  for (const { wait_s } of history.slice(180)) expect(wait_s).toBeLessThanOrEqual(10);
  for (const [part, drain] of [
    [history.slice(130, 180), 5],
    [history.slice(250), 10],
  ] as const) {
    for (const { rate } of part) expect(Math.abs(rate - drain)).toBeLessThanOrEqual(0.2 * drain);
  }
  const sum = (field: "drained" | "could") => history.reduce((total, second) => total + second[field], 0);
  expect(sum("drained") / sum("could")).toBeGreaterThanOrEqual(0.95);
}, 60_000);

test("the answer carries the rate and the estimated wait", async () => {
  const { world, limit } = setUp({ backlog: 30, drain_per_s: 10 });
  await limit.set(rules);
  expect((await limit.take()).body.estimated_wait_ms).toBeUndefined();
  await world.settle();
  expect((await limit.take()).body).toMatchObject({ rate_per_s: 10, estimated_wait_ms: 3_000 });
});

test("no growth while less than half is used, and growth when it is", async () => {
  const { world, limit } = setUp({ backlog: 0, drain_per_s: 4 });
  await limit.set({ ...rules, refill_per_s: 4 });
  const seconds = async (count: number, cost: number) => {
    for (let second = 0; second < count; second++) {
      await limit.take({ cost });
      world.advance(1_000);
      await world.settle();
    }
    return (await limit.take({ cost: 0.001 })).body.rate_per_s;
  };
  expect(await seconds(10, 1.9)).toBe(4);
  expect(await seconds(6, 2.4)).toBeGreaterThan(4);
});

test("one step is made however many isolates ask", async () => {
  const { world, queue } = setUp({ backlog: 0, drain_per_s: 10 });
  const isolates = Array.from({ length: 8 }, () => world.isolate({ loadOf: async () => queue.load }));
  await limitOf(world).set(rules);
  const everybody = async () => {
    await Promise.all(isolates.map((isolate) => limitOf(isolate).take()));
    await Promise.all(isolates.map((isolate) => isolate.settle()));
  };
  await everybody();
  queue.load = { backlog: 500, drain_per_s: 10 };
  world.advance(2_000);
  await everybody();
  world.advance(2_000);
  // 10 · 0.7, once.
  expect((await limitOf(world.isolate()).peek()).body.rate_per_s).toBe(7);
});

test("the cron adapts without traffic, within the bounds, and a queue nobody knows changes nothing", async () => {
  const { world, queue, limit } = setUp({ backlog: 1_000, drain_per_s: 0 });
  await limit.set(rules);
  for (let minute = 0; minute < 12; minute++) {
    await world.app.scheduled();
    world.advance(60_000);
  }
  expect((await limit.peek()).body).toMatchObject({ rate_per_s: 1 });
  queue.load = undefined;
  await world.app.scheduled();
  expect((await limit.peek()).body.rate_per_s).toBe(1);
  await limit.set({ ...rules, adapt: undefined });
  expect((await limit.peek()).body.rate_per_s).toBe(10);
  expect(await world.redis("ZCARD", `${world.prefix}:adapting`)).toBe(0);
});

test("a limit whose PUT or DELETE broke off half-way is known to the cron, or not, once that is repeated", async () => {
  const { world, limit } = setUp({ backlog: 1_000, drain_per_s: 10 });
  const broken = limitOf(world.faulty("refuse", "adapting").isolate);
  const known = () => world.redis("ZRANGE", `${world.prefix}:adapting`, "0", "-1");
  expect((await broken.set(rules)).status).toBe(503);
  expect((await limit.set(rules)).status).toBe(200);
  expect(await known()).toEqual(["gpu"]);
  expect((await broken.set({ ...rules, adapt: undefined })).status).toBe(503);
  expect((await limit.set({ ...rules, adapt: undefined })).status).toBe(200);
  expect(await known()).toEqual([]);
  await limit.set(rules);
  expect((await broken.remove()).status).toBe(503);
  expect((await limit.remove()).status).toBe(200);
  expect(await known()).toEqual([]);
});

test("a changed rate is no free refill, and a record of it that is junk is written anew", async () => {
  const { world, limit } = setUp({ backlog: 1_000, drain_per_s: 10 });
  await limit.set({ ...rules, capacity: 1_000 });
  await limit.take({ cost: 1_000 });
  await world.settle();
  for (const junk of ["junk", "nan 1 1 1 1", "-1 1 1 1 1", "1e300 1 1 1 1", "5 0 0 0"]) {
    await world.redis("SET", `${world.prefix}:{limit:gpu}:pace`, junk);
    expect((await limitOf(world.isolate()).peek()).status).toBe(200);
    world.advance(2_000);
    expect((await limit.take({ cost: 1_000 })).body.allowed).toBe(false);
    await world.settle();
    const { body } = await limit.peek();
    expect(body.remaining).toBeLessThanOrEqual(100);
    expect(body.rate_per_s).toBeLessThanOrEqual(10);
    expect(body.rate_per_s).toBeGreaterThan(0);
  }
});

test("a limit set in the very millisecond of a step still applies to every bucket", async () => {
  const { world, limit } = setUp({ backlog: 1_000, drain_per_s: 10 });
  await limit.set(rules);
  await limit.take();
  await world.settle();
  world.advance(2_000);
  await limit.take();
  await world.settle();
  expect((await limit.take()).body.rate_per_s).toBe(7);
  await limit.set({ capacity: 10, refill_per_s: 3 });
  expect((await limit.take()).body.rate_per_s).toBe(3);
});
