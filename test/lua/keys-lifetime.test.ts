import { expect, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { furnish } from "../support/furnish.ts";
import { operationsOf, sampleOf, urlOf } from "../support/openapi.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

/** What may live for ever (docs/keyspace.md): configuration, filters, dead letters and tasks that are not finished. */
const LASTING = [
  /^\{fleet:[^}]+\}:policy$/,
  /^\{(limit|filter):[^}]+\}:configuration$/,
  /^\{filter:[^}]+\}:bits:/,
  /^\{queue:[^}]+\}:config$/,
  /^\{fleet:[^}]+\}:queue:[^:]+:(ready|timers|running|dead|task:.*|failure:.*)$/,
  /^adapting$/,
];

const TTLS = "local all = {} for at, key in ipairs(KEYS) do all[at] = redis.call('PTTL', key) end return all";

/** The keys of a world that have no end. */
async function endless(world: World): Promise<string[]> {
  const keys = (await world.redis<string[]>("KEYS", `${world.prefix}:*`)).sort();
  const left = await Promise.all(keys.map((key) => world.redis<number[]>("EVAL", TTLS, 1, key)));
  expect(keys.length).toBeGreaterThan(0);
  return keys.filter((_, at) => left[at]?.[0] === -1).map((key) => key.slice(world.prefix.length + 1));
}

const strays = async (world: World) =>
  (await endless(world)).filter((key) => !LASTING.some((pattern) => pattern.test(key)));

test("after every kind of call all but configuration, filters, dead letters and tasks has an end", async () => {
  const world = new World();
  await furnish(world);
  const operations = await operationsOf(world);
  for (const pause of [0, 61_000, 86_400_000]) {
    world.advance(pause);
    for (const operation of operations.filter(({ method }) => method !== "DELETE")) {
      await world.call(operation.method, urlOf(operation), sampleOf(operation));
    }
    await world.settle();
    expect(await strays(world)).toEqual([]);
    await world.app.scheduled();
    expect(await strays(world)).toEqual([]);
  }
});

test.each([
  [
    "a claim by a pod that never beat",
    async (world: World) => {
      const queue = queueOf(world);
      await queue.configure();
      await queue.enqueue({ id: "t1" });
      await claimOne(queue, { request_id: "r1" });
    },
  ],
  ["an acquire by a pod that never beat", (world: World) => fleetOf(world).acquire({ request_id: "r1" })],
  ["a batch of heartbeats", (world: World) => fleetOf(world).batch("a", [{ pod: "p" }])],
  ["a drain", (world: World) => fleetOf(world).drain({ pod: "p", drain: true })],
  [
    "a take",
    async (world: World) => {
      await world.put("/v1/limits/l", { algorithm: "token_bucket", capacity: 1, refill_per_s: 1 });
      await world.post("/v1/limits/l/take", { request_id: "r1" });
    },
  ],
])("%s alone leaves nothing behind for ever", async (_, make) => {
  const world = new World();
  await make(world);
  await world.settle();
  expect(await strays(world)).toEqual([]);
});

test("what finished tasks leave has an end, and of their queue only its configuration has none", async () => {
  const world = new World();
  const queue = queueOf(world);
  await fleetOf(world).beatMany(5);
  await queue.configure({ max_deliveries: 1 });
  for (const id of ["done", "failed", "cancelled", "abandoned", "purged"]) await queue.enqueue({ id });
  await queue.complete((await claimOne(queue, { request_id: "r1" })).lease.id, { result: 1 });
  await queue.fail((await claimOne(queue)).lease.id, { error: "no", retry: false });
  await queue.cancel("cancelled");
  await claimOne(queue);
  await queue.purge("ready");
  world.advance(60_000);
  await world.app.scheduled();
  while ((await queue.purge("dead")).body.purged > 0);
  await world.settle();
  const kept = await endless(world);
  expect(kept).toEqual(["{queue:infer}:config"]);
});

test("keys that lost their lifetime have it again after the next use and the next cron", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const take = () => world.post("/v1/limits/l/take", {});
  await world.put("/v1/limits/l", { algorithm: "token_bucket", capacity: 10, refill_per_s: 1 });
  const use = async () => {
    await fleet.beat({ instance: "1" });
    await fleet.drain({ pod: "other", drain: true });
    await take();
    await world.settle();
    await world.app.scheduled();
  };
  await use();
  for (const key of await world.redis<string[]>("KEYS", `${world.prefix}:*`))
    await world.redis("PERSIST", key);
  expect((await strays(world)).length).toBeGreaterThan(4);
  world.advance(3_600_000);
  await use();
  // A history's is renewed once in a quarter of an hour.
  for (let minute = 0; minute < 15; minute++) {
    world.advance(60_000);
    await world.app.scheduled("* * * * *");
  }
  expect(await strays(world)).toEqual([]);
});
