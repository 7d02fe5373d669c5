import { expect, inject, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { limitOf } from "../support/limit.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

const HOUR = 3_600_000;
const list = async (world: World) => (await world.get("/v1/limits")).body;
const names = async (world: World) => (await list(world)).limits.map(({ limit }: { limit: string }) => limit);

test("no limit was heard of: an empty list", async () => {
  expect(await list(new World())).toEqual({ limits: [] });
});

test("every limit that was set is listed by name with its rules and the level of its key default", async () => {
  const world = new World();
  const [tokens, line] = [limitOf(world, "tokens"), limitOf(world, "line")];
  await tokens.set({ capacity: 100, refill_per_s: 10 });
  await line.set({ algorithm: "leaky_bucket", capacity: 5, leak_per_s: 0.5 });
  await tokens.take({ cost: 60 });
  await tokens.take({ cost: 99, key: "another" });
  await line.take({ cost: 5 });
  await world.settle();
  world.advance(1_000);
  const rules = { on_error: "deny", shadow: false };
  expect(await list(world)).toEqual({
    limits: [
      {
        limit: "line",
        allowed: false,
        remaining: 0.5,
        delay_ms: 0,
        retry_after_ms: 1_000,
        rate_per_s: 0.5,
        config: { algorithm: "leaky_bucket", capacity: 5, leak_per_s: 0.5, ...rules },
      },
      {
        limit: "tokens",
        allowed: true,
        remaining: 50,
        delay_ms: 0,
        rate_per_s: 10,
        config: { algorithm: "token_bucket", capacity: 100, refill_per_s: 10, ...rules },
      },
    ],
  });
});

test("a row says what a take of one would hear, and looking spends nothing", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 10, refill_per_s: 1 });
  await limit.take({ cost: 10 });
  await world.settle();
  world.advance(250);
  const before = await world.snapshot();
  const { limit: name, config, ...level } = (await list(world)).limits[0];
  expect(level).toEqual((await limit.peek()).body);
  expect([name, config]).toEqual(["gpu", (await limit.get()).body]);
  expect(await world.snapshot()).toBe(before);
});

test("a limit that is used stays listed, whoever uses it; one that is only looked at is dropped after 24 h", async () => {
  const world = new World({ restUrl: inject("plainUrl") });
  for (const name of ["taken", "acquired", "claimed", "looked-at"])
    await limitOf(world, name).set({ capacity: 1_000, refill_per_s: 1 });
  const fleet = fleetOf(world);
  await fleet.policy({ limit: "acquired" });
  const queue = queueOf(world, "infer", "other");
  await queue.configure({ limit: "claimed" });
  for (let hour = 0; hour < 24; hour++) {
    await limitOf(world, "taken").take();
    await fleet.acquire();
    await queue.enqueue();
    await claimOne(queue);
    await limitOf(world, "looked-at").peek();
    await limitOf(world, "looked-at").get();
    await list(world);
    await world.settle();
    world.advance(HOUR);
  }
  expect(await names(world)).toEqual(["acquired", "claimed", "taken"]);
  await limitOf(world, "looked-at").set({ capacity: 1_000, refill_per_s: 1 });
  await world.settle();
  expect(await names(world)).toContain("looked-at");
});

test("a limit that was removed is not listed, and is again once it is set anew", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 1, refill_per_s: 1 });
  await world.settle();
  await limit.remove();
  expect(await list(world)).toEqual({ limits: [] });
  await limit.set({ capacity: 1, refill_per_s: 1 });
  expect(await names(world.isolate())).toEqual(["gpu"]);
});

test("the rate and the wait of a limit that adapts are told as it has come to them", async () => {
  const world = new World({ loadOf: async () => ({ backlog: 400, drain_per_s: 10 }) });
  const limit = limitOf(world);
  const adapt = { queue: "infer", target_wait_ms: 5_000, min_per_s: 1, max_per_s: 100 };
  await limit.set({ capacity: 10, refill_per_s: 50, adapt });
  await limit.take();
  await world.settle();
  world.advance(2_000);
  await limit.take();
  await world.settle();
  const [row] = (await list(world.isolate())).limits;
  expect(row).toMatchObject({ rate_per_s: 35, estimated_wait_ms: 40_000 });
});

test("every key with the scope read sees all limits, and one without it none", async () => {
  const world = new World();
  await limitOf(world).set({ capacity: 1, refill_per_s: 1 });
  await world.settle();
  expect((await world.call("GET", "/v1/limits", undefined, "foreign-key")).body.limits).toHaveLength(1);
  expect((await world.call("GET", "/v1/limits", undefined, "worker-key")).status).toBe(403);
});
