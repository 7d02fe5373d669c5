import { beforeEach, describe, expect, inject, test } from "vitest";
import { limitOf } from "../support/limit.ts";
import { World } from "../support/world.ts";

describe("several limits in one call", () => {
  let world: World;
  const take = (takes: object[], more: object = {}) => world.post("/v1/take", { takes, ...more });
  const left = async (name: string, key?: string) => (await limitOf(world, name).peek(key)).body.remaining;

  beforeEach(async () => {
    world = new World({ restUrl: inject("plainUrl") });
    await limitOf(world, "user").set({ capacity: 5, refill_per_s: 1 });
    await limitOf(world, "model").set({ capacity: 3, refill_per_s: 0.5 });
    await limitOf(world, "lane").set({ algorithm: "leaky_bucket", capacity: 4, leak_per_s: 2 });
  });

  test("all are taken from, each by its own cost and key", async () => {
    const all = [{ limit: "user", key: "u1", cost: 2 }, { limit: "model" }, { limit: "lane" }];
    const first = await take(all);
    expect(first.body).toEqual({
      allowed: true,
      takes: [
        { limit: "user", remaining: 3, delay_ms: 0 },
        { limit: "model", remaining: 2, delay_ms: 0 },
        { limit: "lane", remaining: 3, delay_ms: 0 },
      ],
    });
    expect((await take(all)).body.takes[2]).toEqual({ limit: "lane", remaining: 2, delay_ms: 500 });
    expect(first.headers.get("ratelimit")).toBe('"user";r=3;t=2, "model";r=2;t=2, "lane";r=3;t=1');
  });

  test("where one refuses none is taken from, and the one with the longest wait is named", async () => {
    await take([
      { limit: "user", cost: 5 },
      { limit: "model", cost: 3 },
    ]);
    const before = await world.snapshot();
    const refused = await take([{ limit: "lane" }, { limit: "user" }, { limit: "model" }]);
    expect(refused.body).toMatchObject({ allowed: false, refused_by: "model", retry_after_ms: 2_000 });
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(await world.snapshot()).toBe(before);
    world.advance(2_000);
    expect((await take([{ limit: "lane" }, { limit: "user" }, { limit: "model" }])).body.allowed).toBe(true);
  });

  test("a limit that only watches is never named as the one that refused, however long its own wait", async () => {
    await limitOf(world, "watch").set({ capacity: 1, refill_per_s: 0.01, shadow: true });
    const all = [{ limit: "watch" }, { limit: "user", cost: 5 }];
    await take(all);
    expect((await take([{ limit: "watch" }])).body).toMatchObject({ allowed: true });
    const refused = await take(all);
    expect(refused.body).toMatchObject({ allowed: false, refused_by: "user", retry_after_ms: 5_000 });
    expect(refused.headers.get("retry-after")).toBe("5");
    world.advance(4_000);
    expect((await take(all)).body.allowed).toBe(false);
    world.advance(1_000);
    expect((await take(all)).body.allowed).toBe(true);
  });

  test("a repeated request_id spends once, and each of its takes can be settled", async () => {
    const all = [{ limit: "user", cost: 2 }, { limit: "model" }];
    await take(all, { request_id: "r1" });
    expect((await take(all, { request_id: "r1" })).body.takes[0].remaining).toBe(3);
    expect([await left("user"), await left("model")]).toEqual([3, 2]);
    const settled = await limitOf(world, "user").settle({ request_id: "r1", actual: 1 });
    expect(settled.body).toEqual({ settled: true, remaining: 4 });
  });

  test("one key of one limit twice, a cost above a capacity and a limit that is not there are refused", async () => {
    const before = await world.snapshot();
    const twice = await take([{ limit: "user" }, { limit: "user", key: "default" }]);
    expect(twice).toMatchObject({ status: 400, body: { errors: [{ path: "takes.1" }] } });
    const dear = await take([{ limit: "user" }, { limit: "model", cost: 3.5 }]);
    expect(dear.body).toMatchObject({ code: "cost-exceeds-capacity", errors: [{ path: "takes.1.cost" }] });
    const alone = await take([{ limit: "model", cost: 3.5 }]);
    expect(alone.body).toMatchObject({ code: "cost-exceeds-capacity", errors: [{ path: "takes.0.cost" }] });
    expect((await take([{ limit: "user" }, { limit: "nobody" }])).status).toBe(404);
    expect((await take([])).status).toBe(400);
    expect(
      (await take(Array.from({ length: 11 }, (_, key) => ({ limit: "user", key: `${key}` })))).status,
    ).toBe(400);
    expect(await world.snapshot()).toBe(before);
  });

  test("ten takes at once are fine, and two keys of one limit are two buckets", async () => {
    const ten = Array.from({ length: 10 }, (_, key) => ({ limit: "user", key: `${key}` }));
    expect((await take(ten, { request_id: "r1" })).body.takes).toHaveLength(10);
    expect(await left("user", "7")).toBe(4);
  });
});

test("where the store keeps limits on different shards a call over two of them is refused with spans-shards", async () => {
  const world = new World();
  for (const name of ["one", "two", "three"])
    await limitOf(world, name).set({ capacity: 5, refill_per_s: 1 });
  const takes = [{ limit: "one" }, { limit: "two" }, { limit: "three" }];
  const before = await world.snapshot();
  expect(await world.post("/v1/take", { takes })).toMatchObject({
    status: 400,
    body: { code: "spans-shards" },
  });
  expect(await world.snapshot()).toBe(before);
  expect((await world.post("/v1/take", { takes: [{ limit: "one" }] })).body.allowed).toBe(true);
});
