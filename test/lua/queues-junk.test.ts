import { expect, test } from "vitest";
import { lease } from "../support/fleet.ts";
import { contents, keep } from "../support/kept.ts";
import { claimOne, idsOf, openQueue } from "../support/queue.ts";
import type { Heard } from "../support/world.ts";

/** A queue with a task in every state, and every call that one could make on it. */
async function populated() {
  const { world, fleet, queue } = await openQueue(50, { lease_ttl_ms: 10_000, max_deliveries: 2 });
  await queue.enqueue({ id: "dead" });
  await queue.fail((await claimOne(queue)).lease.id, { retry: false, error: "bad" });
  await queue.enqueue({ id: "failed" });
  await queue.fail((await claimOne(queue)).lease.id, { delay_ms: 3_600_000 });
  await queue.enqueue({ id: "lapsed" });
  await claimOne(queue, { pod: "crashed" });
  world.advance(9_000);
  await queue.enqueue({ id: "flying" });
  const flying = (await claimOne(queue, { request_id: "r1" })).lease.id;
  await queue.enqueue({ id: "done" });
  const done = (await claimOne(queue)).lease.id;
  await queue.complete(done, { result: 1 });
  await queue.enqueue({ id: "later", delay_ms: 3_600_000 });
  await queue.enqueue({ id: "due", delay_ms: 500 });
  world.advance(1_000);
  await queue.enqueue({ id: "waits" });
  await world.settle();
  const calls: Record<string, () => Promise<Heard>> = {
    status: () => world.get("/v1/queues/infer"),
    "get a waiting task": () => queue.task("waits"),
    "get a failed task": () => queue.task("failed"),
    "get a task in flight": () => queue.task("flying"),
    "get a dead task": () => queue.task("dead"),
    "enqueue a new task": () => queue.enqueue({ id: "new" }),
    "enqueue a new delayed task": () => queue.enqueue({ id: "new-later", delay_ms: 1_000 }),
    "enqueue again": () => queue.enqueue({ id: "waits" }),
    "enqueue what is in flight again": () => queue.enqueue({ id: "flying" }),
    "enqueue a batch": () =>
      queue.batch([
        { id: "b1", payload: 1 },
        { id: "waits", payload: null },
        { id: "b2", payload: 1, delay_ms: 5 },
      ]),
    claim: () => queue.claim({ pod: "p1", max: 2 }),
    "claim with request_id": () => queue.claim({ pod: "p1", max: 2, request_id: "r2" }),
    "claim again": () => queue.claim({ request_id: "r1" }),
    "complete again": () => queue.complete(done),
    fail: () => queue.fail(flying, { delay_ms: 0 }),
    "fail for later": () => queue.fail(flying, { delay_ms: 5_000 }),
    "fail for good": () => queue.fail(flying, { retry: false }),
    complete: () => queue.complete(flying),
    "cancel what waits": () => queue.cancel("waits"),
    "cancel what is delayed": () => queue.cancel("later"),
    "cancel what is in flight": () => queue.cancel("flying"),
    dead: () => world.get("/v1/queues/infer/dead"),
    "redrive some": () => queue.redrive({ ids: ["dead"] }),
    redrive: () => queue.redrive(),
    "purge the ready": () => queue.purge("ready"),
    "purge the delayed": () => queue.purge("delayed"),
    "purge the dead": () => queue.purge("dead"),
    leave: () => fleet.leave(),
  };
  return { world, queue, fleet, calls };
}

const structures = ["ready", "timers", "running", "dead", "members"] as const;
/** These take several steps, of which each is whole; what they did before the refusal stands. */
const STEPWISE = /^(dead|redrive.*|purge.*|leave)$/;

test.each(structures)(
  "where %s is of another type a call is refused and changes nothing",
  async (name) => {
    const { world, queue, calls } = await populated();
    const putBack = await keep(world);
    const refused: string[] = [];
    for (const [call, make] of Object.entries(calls)) {
      await putBack();
      await world.redis("DEL", queue.keys[name]);
      await world.redis("SET", queue.keys[name], "junk");
      const before = await contents(world);
      const { status, body } = await make();
      await world.settle();
      if (status < 500) continue;
      refused.push(call);
      expect.soft(body, call).toMatchObject({ code: "internal", detail: expect.stringContaining(name) });
      if (!STEPWISE.test(call)) expect.soft(await contents(world), call).toBe(before);
    }
    expect(refused.length).toBeGreaterThan(5);
  },
  30_000,
);

test.each(["record", "failure", "request"] as const)(
  "where each %s is of another type a call heals it, or is refused and changes nothing",
  async (name) => {
    const { world, queue, calls } = await populated();
    const ids = ["waits", "flying", "failed", "dead", "later", "done", "new", "b1", "b2"];
    const keys =
      name === "request"
        ? [queue.keys.request("a/worker-0//r1"), queue.keys.request("a/p1//r2")]
        : ids.map((id) => queue.keys[name](id));
    const putBack = await keep(world);
    for (const [call, make] of Object.entries(calls)) {
      await putBack();
      for (const key of keys) await world.redis("DEL", key);
      for (const key of keys) await world.redis("RPUSH", key, "junk");
      const before = await contents(world);
      const { status } = await make();
      await world.settle();
      if (status >= 500 && !STEPWISE.test(call)) expect.soft(await contents(world), call).toBe(before);
    }
  },
  30_000,
);

const JUNK = [
  "",
  "junk",
  "f/",
  "d/",
  "f/junk",
  "d/junk",
  "00/x/y/z",
  "d/00/a/normal/x/y/z/w///h/a/b/c/d/0",
  "nan",
];

test("junk among the members of a queue hinders no task", async () => {
  const { world, queue } = await openQueue(50);
  for (const id of ["t1", "t2", "t3"]) await queue.enqueue({ id });
  for (const [place, junk] of JUNK.entries()) {
    await world.redis("ZADD", queue.keys.ready, place, junk);
    await world.redis("ZADD", queue.keys.timers, place, junk);
    await world.redis("ZADD", queue.keys.dead, 0, junk);
    await world.redis("HSET", queue.keys.running, `j${place}`, junk);
    await world.redis("ZADD", queue.keys.timers, place, `f/j${place}`);
    await world.redis("ZADD", queue.keys.members, 1e15 + world.now + 1_000 + place, `t/${junk}`);
  }
  expect((await world.get("/v1/queues/infer")).status).toBe(200);
  expect((await world.get("/v1/queues/infer/dead")).status).toBe(200);
  expect((await queue.enqueue({ id: "t1" })).body).toEqual({ id: "t1", state: "ready", duplicate: true });
  for (const junk of ["j0", "j1"]) expect((await queue.enqueue({ id: junk })).status).toBe(201);
  const seen = new Set<string>();
  for (let turn = 0; turn < 20; turn++) {
    const { status, body } = await queue.claim({ max: 1 });
    expect(status).toBe(200);
    for (const { id, lease } of body.tasks) {
      seen.add(id);
      expect((await queue.complete(lease.id)).status).toBe(200);
    }
  }
  expect([...seen].sort()).toEqual(["j0", "j1", "t1", "t2", "t3"]);
  expect((await queue.redrive()).status).toBe(200);
  for (const state of ["ready", "delayed", "dead"]) expect((await queue.purge(state)).status).toBe(200);
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, in_flight: 0, dead: 0 });
});

test.each([["+inf"], ["-inf"], ["1e300"], ["-1e300"], ["0"]])(
  "tasks whose scores all read %s keep no call from its end, also after ratios have changed",
  async (score) => {
    const { world, fleet, queue } = await openQueue(1);
    await queue.enqueue({ id: "waits" });
    await queue.enqueue({ id: "other", class: "high" });
    await queue.enqueue({ id: "later", delay_ms: 60_000 });
    await fleet.policy({ ttl_ms: 86_400_000, classes: { normal: { ratio: 0.5 }, high: { ratio: 1 } } });
    const held = await lease(fleet);
    for (const name of ["ready", "timers"] as const) {
      for (const member of await world.redis<string[]>("ZRANGE", queue.keys[name], 0, -1))
        await world.redis("ZADD", queue.keys[name], score, member);
    }
    expect((await world.get("/v1/queues/infer")).status).toBe(200);
    for (const id of ["waits", "other", "later", "none"])
      expect([200, 404]).toContain((await queue.task(id)).status);
    expect((await queue.claim()).body).toMatchObject({ tasks: [], reason: "at_capacity" });
    expect((await queue.enqueue({ id: "waits" })).status).toBe(200);
    await fleet.release(held);
    expect((await queue.claim({ max: 10 })).body.tasks).toHaveLength(1);
    expect((await queue.cancel("later")).status).toBeLessThan(500);
    await world.app.scheduled();
  },
  20_000,
);

test.each(["+inf", "-inf", "1e300"])(
  "a lease whose score reads %s is no delivery any more, and its task comes back",
  async (score) => {
    const { world, queue } = await openQueue(10, { max_backlog: 100 });
    await queue.enqueue({ id: "t1" });
    const { id } = (await claimOne(queue)).lease;
    await world.redis("ZADD", queue.keys.members, score, id);
    world.advance(30_000);
    expect((await queue.enqueue({ id: "t2" })).status).toBe(201);
    expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["t1", "t2"]);
  },
);

test.each(["", "junk", "w\n", "w junk\nx", "c junk\n", "c 1 junk\n", "x 1\n", "z z\nz"])(
  "a record that reads %j is mended by the next enqueue of its id",
  async (junk) => {
    const { world, queue } = await openQueue();
    await world.redis("SET", queue.keys.record("t1"), junk);
    expect((await queue.task("t1")).status).toBe(404);
    expect((await queue.cancel("t1")).status).toBe(404);
    expect((await queue.enqueue({ id: "t1", payload: "new" })).status).toBe(201);
    expect(await claimOne(queue)).toMatchObject({ id: "t1", payload: "new" });
  },
);

test.each(["", "junk", "a b c", "\n"])("a failure note that reads %j hides no task", async (junk) => {
  const { world, queue } = await openQueue();
  await queue.enqueue({ id: "t1" });
  await queue.fail((await claimOne(queue)).lease.id, { delay_ms: 5_000 });
  await world.redis("SET", queue.keys.failure("t1"), junk);
  expect((await queue.task("t1")).status).toBe(200);
  expect((await queue.enqueue({ id: "t1" })).body).toEqual({ id: "t1", state: "delayed", duplicate: true });
  world.advance(5_000);
  expect(await claimOne(queue)).toMatchObject({ id: "t1", delivery: 2 });
  expect((await queue.claim()).body.reason).toBe("empty");
});

test.each(["junk", "render\n", "render\nnull", "render\n{}", ""])(
  "a configuration that reads %j is a clean error until it is put again",
  async (junk) => {
    const { world, queue } = await openQueue();
    await queue.enqueue({ id: "t1" });
    await world.redis("SET", queue.keys.config, junk);
    world.advance(5_000);
    const { status, body } = await queue.claim();
    expect(status).toBe(500);
    expect(body.detail).toMatch(/PUT it again/);
    expect((await queue.configure()).status).toBe(200);
    expect((await claimOne(queue)).id).toBe("t1");
  },
);
