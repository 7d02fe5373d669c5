import { expect, inject, test } from "vitest";
import { makeTake } from "../../src/limits/take.ts";
import { makeRates } from "../../src/rates/rates.ts";
import { StoreUnavailable } from "../../src/redis/errors.ts";
import { makeKeys } from "../../src/redis/keys.ts";
import { makeStore, type Store } from "../../src/redis/store.ts";
import { limitOf } from "../support/limit.ts";
import { World } from "../support/world.ts";

/** A number field with what people and programs send by mistake, as JSON text. */
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

const send = (world: World, method: string, path: string, body: string) =>
  world.send(path, {
    method,
    headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
    body,
  });

test.each([
  ["PUT", "capacity", '{"algorithm":"token_bucket","capacity":@,"refill_per_s":1}', ["1.5"]],
  ["PUT", "refill_per_s", '{"algorithm":"token_bucket","capacity":1,"refill_per_s":@}', ["1.5"]],
  ["PUT", "leak_per_s", '{"algorithm":"leaky_bucket","capacity":1,"leak_per_s":@}', ["1.5"]],
  ...["target_wait_ms", "min_per_s", "max_per_s"].map((field): [string, string, string, string[]] => {
    const adapt = { queue: "q", target_wait_ms: 5_000, min_per_s: 1, max_per_s: 2, [field]: "@" };
    const body = JSON.stringify({ algorithm: "token_bucket", capacity: 1, refill_per_s: 1, adapt });
    return ["PUT", `adapt.${field}`, body.replace('"@"', "@"), field === "target_wait_ms" ? [] : ["1.5"]];
  }),
  ["POST", "cost", '{"cost":@}', ["1.5"]],
  ["POST", "actual", '{"request_id":"known","actual":@}', ["0", "1.5", "1e-320"]],
] as [string, string, string, string[]][])(
  "%s with an odd %s is refused by name, or right",
  async (method, field, body, right) => {
    const world = new World();
    const limit = limitOf(world);
    await limit.set({ capacity: 10, refill_per_s: 1 });
    await limit.take({ request_id: "known", cost: 2 });
    const path = { PUT: "", cost: "/take", actual: "/settle" }[method === "PUT" ? "PUT" : field] ?? "";
    for (const odd of ODD) {
      const before = await world.snapshot();
      const answer = await send(world, method, `/v1/limits/gpu${path}`, body.replace("@", odd));
      if (right.includes(odd)) {
        expect([odd, answer.status]).toEqual([odd, 200]);
        continue;
      }
      expect([odd, answer.status]).toEqual([odd, 400]);
      expect(answer.body.errors.map(({ path }: { path: string }) => path)).toContain(field);
      expect(await world.snapshot()).toBe(before);
    }
  },
);

test("a capacity that would take more than 30 days to fill is refused, also at the slowest adapted rate", async () => {
  const limit = limitOf(new World());
  expect((await limit.set({ capacity: 2_592_000, refill_per_s: 1 })).status).toBe(200);
  expect((await limit.set({ capacity: 2_592_001, refill_per_s: 1 })).body.errors[0].path).toBe("capacity");
  const adapt = { queue: "q", target_wait_ms: 5_000, min_per_s: 0.5, max_per_s: 2 };
  expect((await limit.set({ capacity: 2_592_000, refill_per_s: 1, adapt })).body.errors[0].path).toBe(
    "capacity",
  );
  const upside = await limit.set({ capacity: 1, refill_per_s: 1, adapt: { ...adapt, min_per_s: 3 } });
  expect(upside.body.errors[0].path).toBe("adapt.min_per_s");
});

test.each([
  undefined,
  "",
  "{",
  "[]",
  '"x"',
  "[".repeat(100_000),
  '{"__proto__":{"cost":1}}',
  '{"now":1,"cost":1}',
])("a body that is no take (%#) is 400 and touches nothing", async (body) => {
  const world = new World();
  await limitOf(world).set({ capacity: 10, refill_per_s: 1 });
  const before = await world.snapshot();
  for (const path of ["/v1/limits/gpu/take", "/v1/limits/gpu/settle", "/v1/take"]) {
    const answer = await send(world, "POST", path, body as string);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("invalid-request");
  }
  expect(await world.snapshot()).toBe(before);
});

test("junk in a bucket or in a request counts as none, and the next take mends it", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 5, refill_per_s: 1 });
  await limit.take({ request_id: "r1" });
  const names = await world.redis<string[]>("KEYS", `${world.prefix}:*`);
  const bucket = names.find((name) => name.endsWith(":bucket")) ?? "";
  const request = names.find((name) => name.endsWith(":request:r1")) ?? "";
  const now = world.now;
  const junk = [
    "",
    "junk",
    "t nan nan nan nan nan",
    "t inf 1 1 1 1",
    `t -inf ${now} 5000000 1000000 ${now}`,
    `t 0 nan 5000000 1000000 ${now}`,
    `t 0 ${now} 5000000 0 ${now}`,
    `t 0 ${now} 5000000 -1 ${now}`,
    `t 0 ${now + 86_400_000} 5000000 1000000 ${now}`,
    `t -1e300 ${now} 5000000 1000000 ${now}`,
    `t 0 ${now} 5000000 1e-300 ${now}`,
    `t 0 ${now} 5000000 1000000 1e300`,
    `x 0 ${now} 5000000 1000000 ${now}`,
    "t 0 0",
  ];
  for (const text of junk) {
    await world.redis("SET", bucket, text);
    await world.redis("SET", request, text);
    expect([text, (await limit.peek()).body.remaining]).toEqual([text, 5]);
    expect([text, (await limit.settle({ request_id: "r1", actual: 1 })).status]).toEqual([text, 404]);
    expect([text, (await limit.take({ request_id: "r1" })).body.remaining]).toEqual([text, 4]);
    expect(await world.redis<number>("PTTL", bucket)).toBeGreaterThan(0);
  }
  for (const key of [bucket, request]) {
    await world.redis("DEL", key);
    await world.redis("LPUSH", key, "a list");
  }
  expect((await limit.take({ request_id: "r1" })).body.remaining).toBe(4);
  expect(await world.redis("TYPE", bucket)).toBe("string");
});

test("a bucket made by hand without a lifetime gets one at the next take", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 5, refill_per_s: 1 });
  await limit.take();
  const [bucket = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:bucket`);
  await world.redis("PERSIST", bucket);
  await limit.take();
  expect(await world.redis<number>("PTTL", bucket)).toBeGreaterThan(0);
});

test("a stored configuration that is junk is a clean 500 that names it, and a PUT mends it", async () => {
  const world = new World();
  const limit = limitOf(world);
  await limit.set({ capacity: 5, refill_per_s: 1 });
  const [record = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:configuration`);
  for (const damage of [
    ["SET", record, "junk"],
    ["SET", record, '{"limit":{}}'],
    ["LPUSH", record, "a list"],
  ]) {
    await world.redis("DEL", record);
    await world.redis(...damage);
    const fresh = limitOf(world.isolate());
    expect(await fresh.take()).toMatchObject({ status: 500, body: { code: "internal" } });
    expect((await fresh.set({ capacity: 5, refill_per_s: 1 })).status).toBe(200);
    expect((await fresh.take()).status).toBe(200);
  }
});

test.each(["refuse", "hang", "drop", "html", "truncated", "quota400", "error500", "oom"] as const)(
  "with a store that fails (%s) a take is 503, and passes labelled where on_error says so",
  async (fault) => {
    const world = new World({ timeoutMs: 300 });
    await limitOf(world, "closed").set({ capacity: 5, refill_per_s: 1 });
    await limitOf(world, "open").set({ capacity: 5, refill_per_s: 1, on_error: "allow" });
    // Only what names a bucket fails, so the isolate knows the limits.
    const { isolate } = world.faulty(fault, "bucket");
    const passed = await limitOf(isolate, "open").take({ request_id: "r1" });
    expect(passed.body).toEqual({ allowed: true, remaining: 0, delay_ms: 0, rate_per_s: 1, degraded: true });
    const refused = await limitOf(isolate, "closed").take();
    expect(refused).toMatchObject({ status: 503, body: { code: "store-unavailable" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    const both = await isolate.post("/v1/take", { takes: [{ limit: "open" }] });
    expect(both.body).toMatchObject({ allowed: true, degraded: true });
    expect((await limitOf(isolate, "open").peek()).status).toBe(503);
  },
);

test("an isolate that never knew the limit lets nothing pass, and one that knew it long ago still does", async () => {
  const world = new World();
  await limitOf(world, "open").set({ capacity: 5, refill_per_s: 1, on_error: "allow" });
  expect((await limitOf(world.faulty("refuse").isolate, "open").take()).status).toBe(503);

  const store = makeStore({ url: world.restUrl, token: inject("restToken") });
  let down = false;
  const dying = {
    ...store,
    run: ((script, call) =>
      down
        ? Promise.reject(new StoreUnavailable("down", "unreachable"))
        : store.run(script, call)) as Store["run"],
  };
  const clock = { now: async () => world.now, local: () => world.now, sleep: async () => {} };
  const ground = { store: dying, keys: makeKeys(world.prefix), clock, defer: () => {} };
  const take = makeTake({ ...ground, rates: makeRates(ground) });
  const taking = { limit: "open", key: "default", cost: 1 };
  expect(await take([taking])).toMatchObject({ allowed: true, degraded: false });
  down = true;
  world.advance(3_600_000);
  expect(await take([taking])).toMatchObject({ allowed: true, degraded: true });
  // What could never be granted is not, whoever answers.
  await expect(take([{ ...taking, cost: 6 }])).rejects.toMatchObject({ code: "cost-exceeds-capacity" });
});
