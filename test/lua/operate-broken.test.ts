import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { limitOf } from "../support/limit.ts";
import { queueOf } from "../support/queue.ts";
import { scrape } from "../support/scrape.ts";
import { World } from "../support/world.ts";

/** Two of each kind, at work. */
async function twoOfEach() {
  const world = new World();
  for (const name of ["one", "two"]) {
    const fleet = fleetOf(world, name);
    await fleet.beatMany(10);
    await lease(fleet);
    const queue = queueOf(world, name, name);
    await queue.configure();
    await queue.enqueue();
    await limitOf(world, name).set({ capacity: 10, refill_per_s: 1 });
    await limitOf(world, name).take();
  }
  await world.settle();
  return world;
}

const JUNK_POLICY = '{"policy":{"classes":{}},"former_lease_ttls":[]}';

test.each([
  [
    "fleets",
    "{fleet:one}:policy",
    "SET",
    JUNK_POLICY,
    "policy of the fleet one cannot be read; PUT it again",
  ],
  ["fleets", "{fleet:one}:policy", "HSET", "a", "policy of the fleet one is a record of another type"],
  ["fleets", "{fleet:one}:members", "SET", "a", "members of the fleet one are a record of another type"],
  ["queues", "{queue:one}:config", "SET", "{}", "configuration of the queue cannot be read; PUT it again"],
  ["queues", "{queue:one}:config", "HSET", "a", "configuration of the queue cannot be read; PUT it again"],
  ["queues", "{fleet:one}:queue:one:ready", "SET", "a", "the queue one has a record of another type"],
  ["limits", "{limit:one}:configuration", "SET", "{}", "stored limit cannot be read; PUT the limit again"],
  ["limits", "{limit:one}:configuration", "HSET", "a", "stored limit cannot be read; PUT the limit again"],
  ["limits", "{limit:one}:pace", "HSET", "a", "pace of the limit is a record of another type"],
])(
  "a list of %s tells of a broken %s (%s), and of all others what they are",
  async (kind, key, command, value, detail) => {
    const world = await twoOfEach();
    const whole = (await world.get(`/v1/${kind}`)).body;
    expect(whole.broken).toBeUndefined();
    const name = `${world.prefix}:${key}`;
    await world.redis("DEL", name);
    await world.redis(command, name, value, ...(command === "HSET" ? ["b"] : []));
    const { status, body } = await world.isolate().get(`/v1/${kind}`);
    expect(status).toBe(200);
    expect(body[kind]).toEqual([whole[kind][1]]);
    expect(body.broken).toEqual([{ name: "one", detail: expect.stringContaining(detail) }]);
  },
);

test("a scrape counts what is broken among what it did not read", async () => {
  const world = await twoOfEach();
  const before = await scrape(world);
  const unread = (samples: Map<string, number>) =>
    ["fleets", "queues", "limits"].map((kind) => samples.get(`fleetgate_unread_${kind}`));
  expect(unread(before)).toEqual([0, 0, 0]);
  for (const key of ["{fleet:one}:history", "{queue:one}:config", "{limit:one}:configuration"])
    await world.redis("SET", `${world.prefix}:${key}`, "junk");
  const after = await scrape(world);
  expect(unread(after)).toEqual([1, 1, 1]);
  expect(after.get('fleetgate_fleet_busy{fleet="two"}')).toBe(1);
  expect(after.get('fleetgate_queue_ready{queue="two"}')).toBe(1);
  expect(after.get('fleetgate_limit_level{limit="two"}')).toBe(9);
});

test("a policy that cannot be read gives no capacity in a scrape: its fleet counts as unread", async () => {
  const world = await twoOfEach();
  await world.redis("SET", `${world.prefix}:{fleet:one}:policy`, JUNK_POLICY);
  const samples = await scrape(world.isolate());
  expect(samples.get("fleetgate_unread_fleets")).toBe(1);
  expect([...samples.keys()].filter((name) => name.includes('fleet="one"'))).toEqual([]);
  expect(samples.get('fleetgate_fleet_capacity{fleet="two",class="normal"}')).toBe(8);
});

test("a scaling answer for a broken record has no number: a zero would scale to nothing", async () => {
  const world = await twoOfEach();
  await world.redis("SET", `${world.prefix}:{fleet:one}:members`, "junk");
  await world.redis("SET", `${world.prefix}:{queue:two}:config`, "junk");
  for (const path of ["fleets/one", "queues/two"]) {
    const { status, body } = await world.isolate().get(`/v1/scale/${path}`);
    expect([path, status, body.code, body.wanted]).toEqual([path, 500, "internal", undefined]);
  }
  expect((await world.isolate().get("/v1/scale/fleets/two")).body.busy).toBe(1);
});

test("a registry that cannot be read is no empty list", async () => {
  const world = await twoOfEach();
  for (const kind of ["fleets", "queues", "limits"]) {
    await world.redis("SET", `${world.prefix}:${kind}`, "junk");
    const { status, body } = await world.isolate().get(`/v1/${kind}`);
    expect([status, body.code]).toEqual([500, "internal"]);
    expect(body.detail).toContain(`:${kind}`);
  }
});

test("a broken record keeps the minute's samples from no other fleet and no other queue", async () => {
  const world = await twoOfEach();
  await world.redis("SET", `${world.prefix}:{fleet:one}:members`, "junk");
  await world.redis("SET", `${world.prefix}:{queue:one}:config`, "junk");
  await world.app.scheduled("* * * * *");
  for (const kind of ["fleets", "queues"])
    expect((await world.get(`/v1/${kind}/two/history`)).body.samples).toHaveLength(1);
});
