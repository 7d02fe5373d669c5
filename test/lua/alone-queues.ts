import { expect, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { claimOne, fill, idsOf, numbered, queueOf } from "../support/queue.ts";
import type { World } from "../support/world.ts";

type Billed = (world: World, work: () => Promise<unknown>) => Promise<number>;

/** A queue whose scripts the store knows and whose configuration is in memory. */
async function warm(world: World, name: string, config: Record<string, unknown> = {}, pods = 100) {
  const fleet = fleetOf(world, `fleet-${name}`);
  const queue = queueOf(world, name, `fleet-${name}`);
  await fleet.beatMany(pods);
  await queue.configure(config);
  await queue.batch([{ payload: 1 }, { payload: 2, delay_ms: 1 }]);
  for (let turn = 0; turn < 2; turn++) {
    await queue.enqueue();
    const { lease } = await claimOne(queue, { request_id: `warm${turn}` });
    if (turn === 0) await queue.complete(lease.id);
    else await queue.fail(lease.id, { retry: false });
  }
  for (const state of ["ready", "delayed", "dead"]) await queue.purge(state);
  await world.settle();
  world.advance(10);
  return { fleet, queue };
}

/** What tasks cost; part of `alone.test.ts`, which has the Redis that can be counted. */
export function queueBudgets(newWorld: () => World, billed: Billed): void {
  test("an enqueue costs 3, repeated 6, with max_backlog 7 and refused by it 5; a batch of 100 costs 4", async () => {
    const world = newWorld();
    const { queue } = await warm(world, "plain");
    expect(await billed(world, () => queue.enqueue())).toBe(3);
    expect(await billed(world, () => queue.enqueue({ delay_ms: 60_000 }))).toBe(3);
    await queue.enqueue({ id: "t" });
    // The script, SET NX, MGET, and three looks: in flight, dead, ready.
    expect(await billed(world, () => queue.enqueue({ id: "t" }))).toBe(6);
    expect(await billed(world, () => queue.batch(numbered(100)))).toBe(4);
    const { queue: bounded } = await warm(world, "bounded", { max_backlog: 1 });
    expect(await billed(world, () => bounded.enqueue({ id: "t" }))).toBe(7);
    expect(await billed(world, () => bounded.enqueue())).toBe(5);
  });

  test("a claim of one or of ten costs 10, with a request_id 12, repeated 4", async () => {
    const world = newWorld();
    const { queue } = await warm(world, "claims");
    await fill(queue, 50);
    expect(await billed(world, () => queue.claim())).toBe(10);
    expect(await billed(world, () => queue.claim({ max: 10 }))).toBe(10);
    expect(await billed(world, () => queue.claim({ max: 10, request_id: "r1" }))).toBe(12);
    expect(await billed(world, () => queue.claim({ max: 10, request_id: "r1" }))).toBe(4);
  });

  test("a claim that redelivers ten costs 15, one that also buries 16", async () => {
    const world = newWorld();
    const { queue } = await warm(world, "lapsing", { lease_ttl_ms: 1_000 });
    await fill(queue, 20);
    await queue.claim({ max: 10 });
    world.advance(1_000);
    expect(await billed(world, () => queue.claim({ max: 10 }))).toBe(15);
    await queue.batch([{ id: "poison", payload: 1, max_deliveries: 1, priority: 9 }]);
    await claimOne(queue);
    world.advance(1_000);
    expect(await billed(world, () => queue.claim({ max: 10 }))).toBe(16);
  });

  test("a claim at capacity costs 5, on an empty queue 3, from memory or on a paused one 0", async () => {
    const world = newWorld();
    const { queue } = await warm(world, "full", {}, 1);
    expect(await billed(world, () => queue.claim())).toBe(3);
    await fill(queue, 2);
    await claimOne(queue);
    expect(await billed(world, () => queue.claim())).toBe(0);
    world.advance(200);
    expect(await billed(world, () => queue.claim())).toBe(5);
    expect(await billed(world, () => queue.claim())).toBe(0);
    await queue.configure({ paused: true });
    await queue.claim();
    expect(await billed(world, () => queue.claim())).toBe(0);
  });

  test("a completion costs 5, after a failure 6, repeated 3; a failure costs 6, repeated 3", async () => {
    const world = newWorld();
    const { queue } = await warm(world, "ends");
    await fill(queue, 2);
    const [one, two] = (await queue.claim({ max: 2 })).body.tasks;
    expect(await billed(world, () => queue.complete(one.lease.id))).toBe(5);
    expect(await billed(world, () => queue.complete(one.lease.id))).toBe(3);
    expect(await billed(world, () => queue.fail(two.lease.id, { delay_ms: 0 }))).toBe(6);
    expect(await billed(world, () => queue.fail(two.lease.id))).toBe(3);
    const again = await claimOne(queue);
    expect(await billed(world, () => queue.complete(again.lease.id))).toBe(6);
    await queue.enqueue({ id: "last" });
    const { lease } = await claimOne(queue);
    expect(await billed(world, () => queue.fail(lease.id, { retry: false }))).toBe(6);
  });

  test.each([10, 10_000])("with %i tasks waiting each call costs the same", async (waiting) => {
    const world = newWorld();
    const { queue } = await warm(world, `deep-${waiting}`);
    await fill(queue, waiting + 10);
    await queue.status();
    await queue.task("t15");
    expect(await billed(world, () => queue.enqueue())).toBe(3);
    let lease = "";
    const claim = async () => {
      ({ id: lease } = (await claimOne(queue, { max: 10 })).lease);
    };
    expect(await billed(world, claim)).toBe(10);
    expect(await billed(world, () => queue.complete(lease))).toBe(5);
    expect(await billed(world, () => queue.task("t15"))).toBe(6);
    expect(await billed(world, () => queue.status())).toBe(8);
  });

  test("a store without memory refuses tasks with 503, while claims, completions and failures go on", async () => {
    const world = newWorld();
    const { queue, fleet } = await warm(world, "memory");
    await fill(queue, 5);
    const [one, two] = (await queue.claim({ max: 2 })).body.tasks;
    await world.redis("CONFIG", "SET", "maxmemory", "1");
    try {
      expect((await queue.enqueue()).status).toBe(503);
      expect((await queue.enqueue({ delay_ms: 5 })).status).toBe(503);
      expect((await queue.complete(one.lease.id)).body).toEqual({ completed: true, already: false });
      expect((await queue.fail(two.lease.id, { delay_ms: 0 })).body.state).toBe("ready");
      const claimed = await queue.claim({ max: 10, request_id: "r1" });
      expect(idsOf(claimed)).toEqual(["t1", "t2", "t3", "t4"]);
      expect((await queue.cancel("t4")).status).toBe(200);
      world.advance(30_000);
      expect((await claimOne(queue)).id).toBe("t1");
    } finally {
      await world.redis("CONFIG", "SET", "maxmemory", "0");
    }
    expect(await queue.status()).toMatchObject({ ready: 2, in_flight: 1, dead: 0 });
    expect(await fleet.status()).toMatchObject({ busy: 1 });
  });

  test("a store without memory is worked off and purged also beside a task that outlives its first ttl", async () => {
    const world = newWorld();
    const { queue, fleet } = await warm(world, "long");
    await fill(queue, 6);
    const long = (await claimOne(queue)).lease.id;
    await queue.fail((await claimOne(queue)).lease.id, { retry: false });
    const goOn = async () => {
      for (const ms of [20_000, 12_000]) {
        world.advance(ms);
        await fleet.beatMany(100);
        expect((await fleet.beat({ leases: [long] })).body.lost).toEqual([]);
      }
    };
    await goOn();
    await world.redis("CONFIG", "SET", "maxmemory", "1");
    try {
      const { id, lease } = await claimOne(queue);
      expect(id).toBe("t2");
      await queue.complete(lease.id);
      await goOn();
      expect((await world.get("/v1/queues/long/dead")).body.tasks).toHaveLength(1);
      await goOn();
      expect((await queue.purge("dead")).body).toEqual({ purged: 1 });
      await goOn();
      expect((await queue.purge("ready")).body).toEqual({ purged: 3 });
      expect((await queue.complete(long)).body.completed).toBe(true);
    } finally {
      await world.redis("CONFIG", "SET", "maxmemory", "0");
    }
    expect(await queue.status()).toMatchObject({ ready: 0, in_flight: 0, dead: 0 });
  });

  test("a batch that repeats what the store has lost reads the delayed tasks once, not for each", async () => {
    const world = newWorld();
    const { queue } = await warm(world, "lost");
    await fill(queue, 100);
    await queue.batch([{ id: "later", payload: 1, delay_ms: 60_000 }]);
    await world.redis("DEL", queue.keys.ready);
    // Six a task that look where it should be, and eight in all.
    expect(await billed(world, () => fill(queue, 100))).toBeLessThanOrEqual(608);
    expect(await queue.status()).toMatchObject({ ready: 100, delayed: 1 });
  });

  test("half a million waiting tasks stay below 100 MB in one record, by a sample of two thousand", async () => {
    const world = newWorld();
    const { queue } = await warm(world, "large");
    const tasks = Array.from({ length: 100 }, (_, payload) => ({ payload }));
    for (let turn = 0; turn < 20; turn++) {
      await queue.batch(tasks);
      world.advance(1);
    }
    const bytes = await world.redis<number>("MEMORY", "USAGE", queue.keys.ready, "SAMPLES", 0);
    const members = await world.redis<string[]>("ZRANGE", queue.keys.ready, 0, -1);
    const data = members.reduce((sum, member) => sum + member.length + 8, 0);
    expect(members).toHaveLength(2_000);
    expect((bytes / 2_000) * 500_000).toBeLessThan(95_000_000);
    expect((data / 2_000) * 500_000).toBeLessThan(45_000_000);
  });
}
