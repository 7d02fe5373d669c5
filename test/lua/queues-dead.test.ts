import { expect, test } from "vitest";
import { claimOne, fill, idsOf, openQueue, type TestQueue } from "../support/queue.ts";

/** Lets `count` tasks die. */
async function bury(queue: TestQueue, count: number): Promise<void> {
  await fill(queue, count);
  for (let left = count; left > 0; left -= 10) {
    const { tasks } = (await queue.claim({ max: 10 })).body;
    await Promise.all(
      tasks.map(({ id, lease }: { id: string; lease: { id: string } }) =>
        queue.fail(lease.id, { retry: false, error: `of ${id}`, reason: "bad" }),
      ),
    );
  }
}

test("a dead letter tells why, how often, and when", async () => {
  const { queue, world } = await openQueue(10, { max_deliveries: 2, lease_ttl_ms: 1_000 });
  const enqueued_at = world.now;
  await queue.enqueue({ id: "t1" });
  world.advance(10);
  const first_claimed_at = world.now;
  await claimOne(queue);
  world.advance(1_000);
  const last_claimed_at = world.now;
  await claimOne(queue);
  world.advance(1_500);
  expect(await queue.dead()).toEqual({
    tasks: [
      {
        id: "t1",
        reason: "max_deliveries",
        error: null,
        deliveries: 2,
        enqueued_at,
        first_claimed_at,
        last_claimed_at,
        died_at: world.now,
      },
    ],
    next: null,
  });
});

test("a task that kills its workers is dead after max_deliveries though nobody reports", async () => {
  const { queue, world, fleet } = await openQueue(10, { max_deliveries: 3, lease_ttl_ms: 1_000 });
  await queue.enqueue({ id: "poison" });
  await queue.enqueue({ id: "good" });
  const seen: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    for (const { id, lease } of (await queue.claim({ max: 10, pod: `p${turn}` })).body.tasks) {
      seen.push(id);
      if (id === "good") await queue.complete(lease.id);
    }
    world.advance(1_000);
  }
  expect(seen.filter((id) => id === "poison")).toHaveLength(3);
  expect(await queue.status()).toMatchObject({ dead: 1, backlog: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
});

test.each([1, 2, 3, 7, 25])("paged by %i every dead letter comes once, in order of id", async (limit) => {
  const { queue } = await openQueue(50);
  await bury(queue, 25);
  const seen: { id: string; error: string }[] = [];
  let cursor = "";
  do {
    const { tasks, next } = await queue.dead(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    expect(tasks.length).toBeLessThanOrEqual(limit);
    seen.push(...tasks);
    cursor = next;
  } while (cursor);
  const ids = Array.from({ length: 25 }, (_, at) => `t${at}`);
  expect(seen.map(({ id }) => id).sort()).toEqual(ids.sort());
  for (const { id, error } of seen) expect(error).toBe(`of ${id}`);
});

test("ids that begin alike are paged and found each for itself", async () => {
  const { queue } = await openQueue(50);
  const ids = ["a", "a-", "a-1", "a.b", "a0", "a1", "a_", "aa", "A", "b"];
  for (const id of ids) {
    await queue.enqueue({ id });
    await queue.fail((await claimOne(queue)).lease.id, { retry: false });
  }
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: { tasks: { id: string }[]; next: string | null } = await queue.dead(
      `?limit=1${cursor && `&cursor=${cursor}`}`,
    );
    seen.push(...page.tasks.map(({ id }) => id));
    cursor = page.next;
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect((await queue.redrive({ ids: ["a"] })).body.redriven).toBe(1);
  expect(idsOf(await queue.claim({ max: 10 }))).toEqual(["a"]);
});

test("a page that begins with letters nobody can read goes on behind them", async () => {
  const { queue, world } = await openQueue();
  await bury(queue, 3);
  for (const junk of ["0", "0/x", "s", "s/1/z"]) await world.redis("ZADD", queue.keys.dead, 0, junk);
  const seen: string[] = [];
  let cursor: string | null = "";
  for (let page = 0; page < 10 && cursor !== null; page++) {
    const { tasks, next } = await queue.dead(`?limit=1${cursor && `&cursor=${cursor}`}`);
    seen.push(...tasks.map(({ id }: { id: string }) => id));
    cursor = next;
  }
  expect(seen).toEqual(["t0", "t1", "t2"]);
});

test("a cursor that this call never gave is refused", async () => {
  const { queue } = await openQueue();
  for (const cursor of ["%%%", "x", btoa("a/b"), btoa("")]) {
    const { world } = queue;
    const { status, body } = await world.get(`/v1/queues/infer/dead?cursor=${encodeURIComponent(cursor)}`);
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe("cursor");
  }
});
