import { expect, test } from "vitest";
import { claimOne, fill, openQueue } from "../support/queue.ts";

test("a purge drops the tasks of one state with all that is kept of them, and no others", async () => {
  const { queue, world } = await openQueue(50, { lease_ttl_ms: 10_000, result_ttl_ms: 60_000 });
  await queue.enqueue({ id: "dead" });
  await queue.fail((await claimOne(queue)).lease.id, { retry: false, error: "x" });
  await queue.enqueue({ id: "failed" });
  await queue.fail((await claimOne(queue)).lease.id, { delay_ms: 60_000, error: "x" });
  await queue.enqueue({ id: "done" });
  await queue.complete((await claimOne(queue)).lease.id);
  await queue.enqueue({ id: "flying" });
  await claimOne(queue);
  await queue.enqueue({ id: "later", delay_ms: 60_000 });
  await queue.enqueue({ id: "waits" });
  const states = async () => {
    const all = ["dead", "failed", "done", "flying", "later", "waits"];
    const answers = await Promise.all(all.map((id) => queue.task(id)));
    return Object.fromEntries(answers.map(({ body }, at) => [all[at], body.state ?? body.code]));
  };
  const gone = "not-found";
  const start = await states();
  expect((await queue.purge("ready")).body).toEqual({ purged: 1 });
  expect(await states()).toEqual({ ...start, waits: gone });
  expect((await queue.purge("delayed")).body).toEqual({ purged: 2 });
  expect(await states()).toEqual({ ...start, waits: gone, failed: gone, later: gone });
  expect((await queue.purge("dead")).body).toEqual({ purged: 1 });
  expect(await states()).toEqual({
    done: "completed",
    flying: "in_flight",
    dead: gone,
    failed: gone,
    later: gone,
    waits: gone,
  });
  const left = await world.redis<string[]>("KEYS", `${world.prefix}:*:queue:*`);
  expect(left.map((key) => key.split(":queue:infer:")[1]).sort()).toEqual([
    "running",
    "task:done",
    "task:flying",
    "timers",
  ]);
  expect((await queue.enqueue({ id: "waits", payload: "other" })).status).toBe(201);
});

test.each(["ready", "delayed"])("more than a thousand %s tasks go in one call", async (state) => {
  const { queue, world } = await openQueue();
  await fill(queue, 1_200, state === "delayed" ? { delay_ms: 60_000 } : {});
  expect(await queue.status()).toMatchObject({ [state]: 1_200 });
  expect((await queue.purge(state)).body).toEqual({ purged: 1_200 });
  expect((await queue.purge(state)).body).toEqual({ purged: 0 });
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0 });
  expect(await world.redis<string[]>("KEYS", `${world.prefix}:*:task:*`)).toEqual([]);
});

test("delayed tasks are purged from among many deliveries, which go on", async () => {
  const { queue } = await openQueue(1_000);
  await fill(queue, 700);
  const leases: string[] = [];
  for (let turn = 0; turn < 70; turn++) {
    leases.push(
      ...(await queue.claim({ max: 10 })).body.tasks.map(({ lease }: { lease: { id: string } }) => lease.id),
    );
  }
  await queue.batch(
    Array.from({ length: 20 }, (_, at) => ({ id: `later${at}`, payload: 0, delay_ms: 86_400_000 })),
  );
  expect((await queue.purge("delayed")).body).toEqual({ purged: 20 });
  expect(await queue.status()).toMatchObject({ delayed: 0, in_flight: 700 });
  expect((await queue.complete(leases[699] ?? "")).status).toBe(200);
});

test("what is due or abandoned by now is purged as ready", async () => {
  const { queue, world } = await openQueue(10, { lease_ttl_ms: 1_000 });
  await queue.enqueue({ id: "later", delay_ms: 1_000 });
  await queue.enqueue({ id: "left" });
  const { lease } = await claimOne(queue);
  world.advance(1_000);
  expect((await queue.purge("delayed")).body).toEqual({ purged: 0 });
  expect((await queue.purge("ready")).body).toEqual({ purged: 2 });
  expect((await queue.complete(lease.id)).body.code).toBe("stale-lease");
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, in_flight: 0 });
});

test.each(["in_flight", "completed", "", undefined])("a purge of %s is refused", async (state) => {
  const { world } = await openQueue();
  expect((await world.post("/v1/queues/infer/purge", { state })).status).toBe(400);
});
