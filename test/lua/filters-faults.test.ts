import { expect, test } from "vitest";
import { probe } from "../../src/filters/probe.ts";
import { sizeOf } from "../../src/filters/size.ts";
import { filterOf, names } from "../support/filter.ts";
import { World } from "../support/world.ts";

const ODD = [
  "-1",
  "0",
  "1e400",
  "1e308",
  "1e-320",
  "null",
  '"5"',
  '"NaN"',
  "true",
  "[]",
  "1.5",
  "9007199254740993",
];

test.each([
  ["capacity", '{"capacity":@,"error_rate":0.01}'],
  ["error_rate", '{"capacity":10,"error_rate":@}'],
])("an odd %s is 400 naming it, and touches nothing", async (field, body) => {
  const world = new World();
  for (const odd of ODD) {
    const answer = await world.send("/v1/filters/known", {
      method: "PUT",
      headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
      body: body.replace("@", odd),
    });
    expect([odd, answer.status, answer.body.errors[0].path]).toEqual([odd, 400, field]);
  }
  expect(await world.redis("KEYS", `${world.prefix}:*`)).toEqual([]);
});

test("bodies that are no list of items are 400 and touch nothing", async () => {
  const world = new World();
  await filterOf(world).set();
  const before = await world.snapshot();
  const bad = [
    {},
    { items: [] },
    { items: [1] },
    { items: [""] },
    { items: ["x".repeat(1_025)] },
    { items: "a" },
  ];
  for (const body of [...bad, { items: names("many", 1_001) }, { items: ["a"], more: 1 }]) {
    expect((await world.post("/v1/filters/known/add", body)).status).toBe(400);
    expect((await world.post("/v1/filters/known/check", body)).status).toBe(400);
  }
  expect(await world.snapshot()).toBe(before);
});

test("a configuration that is junk is a clean 500, or none, and a PUT mends it", async () => {
  const world = new World();
  const filter = filterOf(world);
  await filter.set();
  const [record = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:configuration`);
  for (const damage of [
    ["SET", record, "junk"],
    ["SET", record, "v1 {}"],
    ["SET", record, "v1 {"],
    ["LPUSH", record, "x"],
  ]) {
    await world.redis("DEL", record);
    await world.redis(...damage);
    expect([404, 500]).toContain((await world.post("/v1/filters/known/check", { items: ["a"] })).status);
    expect((await filter.set()).status).toBe(200);
    await filter.add("a");
    expect(await filter.check("a", "b")).toEqual([true, false]);
  }
});

test.each(["SET", "DEL"])(
  "after %s of its configuration a filter that is PUT again starts empty",
  async (damage) => {
    const world = new World();
    const filter = filterOf(world);
    await filter.set({ capacity: 10 });
    await filter.add(...names("old", 1_000));
    const [record = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:configuration`);
    await world.redis(damage, record, ...(damage === "SET" ? ["junk"] : []));
    expect((await filter.set({ capacity: 10 })).status).toBe(200);
    expect(await world.redis("KEYS", `${world.prefix}:*:bits:*`)).toEqual([]);
    expect(await filter.add("a")).toBe(1);
    expect(await filter.check("a", "b", "old-0")).toEqual([true, false, false]);
  },
);

test("bits of another type are a clean 500, not an answer", async () => {
  const world = new World();
  const filter = filterOf(world);
  await filter.set();
  await filter.add("a");
  const [bits = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:bits:*`);
  await world.redis("DEL", bits);
  await world.redis("LPUSH", bits, "x");
  for (const call of ["add", "check"]) {
    const answer = await world.post(`/v1/filters/known/${call}`, { items: ["a"] });
    expect(answer).toMatchObject({ status: 500, body: { code: "internal" } });
  }
});

test("no record of the largest filter comes near what a store may hold, and all of it is used", async () => {
  const size = sizeOf(1_000_000_000, 0.01);
  expect(size.bits / 8).toBeLessThanOrEqual(32 * 2 ** 20);
  expect(size.bits * size.shards).toBeGreaterThan(9.58e9);
  const seed = "0123456789abcdef";
  const probes = await Promise.all(names("item", 3_000).map((item) => probe(item, { ...size, seed })));
  expect(new Set(probes.map(({ shard }) => shard)).size).toBe(size.shards);
  for (const { offsets } of probes) {
    expect(new Set(offsets).size).toBe(size.hashes);
    for (const offset of offsets)
      expect(Number.isSafeInteger(offset) && offset >= 0 && offset < size.bits).toBe(true);
  }
});

test("places depend on a secret seed, which no answer shows", async () => {
  const world = new World();
  const [one, other] = [filterOf(world, "one"), filterOf(world, "other")];
  await one.set();
  await other.set();
  await one.add("a");
  await other.add("a");
  const shards = await world.redis<string[]>("KEYS", `${world.prefix}:*:bits:*`);
  const contents = await Promise.all(shards.map((key) => world.redis("GET", key)));
  expect(contents[0]).not.toBe(contents[1]);
  expect(Object.keys((await one.get()).body)).toEqual(["capacity", "error_rate"]);
});

test("at capacity the share of false answers stays within 1.2 times what was asked for, at every size", async () => {
  for (const [capacity, errorRate] of [
    [200, 0.01],
    [5_000, 0.01],
    [5_000, 0.1],
    [2_000, 0.001],
  ] as const) {
    const layout = { ...sizeOf(capacity, errorRate), seed: "0123456789abcdef" };
    const bits = new Set<number>();
    for (const item of names("in", capacity))
      for (const offset of (await probe(item, layout)).offsets) bits.add(offset);
    const strangers = 20_000;
    let wrong = 0;
    for (const item of names("out", strangers)) {
      if ((await probe(item, layout)).offsets.every((offset) => bits.has(offset))) wrong += 1;
    }
    const noise = 3 * Math.sqrt(errorRate / strangers);
    expect([capacity, errorRate, wrong / strangers <= 1.2 * errorRate + noise]).toEqual([
      capacity,
      errorRate,
      true,
    ]);
  }
});
