import { beforeAll, describe, expect, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { furnish } from "../support/furnish.ts";
import { type Described, operationsOf, sampleOf, urlOf } from "../support/openapi.ts";
import { World } from "../support/world.ts";

let operations: Described[];

beforeAll(async () => {
  operations = await operationsOf(new World());
});

const FLEET = "some-fleet";

/** The key of the furnished fleet. */
const keyOf = (world: World, name: string) => `${world.prefix}:{fleet:${FLEET}}:${name}`;

async function furnished() {
  const world = new World();
  await furnish(world);
  return world;
}

/**
 * Every call, each through an isolate that remembers nothing, then the cron. A call may heal the record or step over
 * it; where it fails it is our 500, it names the record, and the store is as it was.
 */
async function expectClean(world: World): Promise<void> {
  let before = await world.snapshot();
  for (const operation of operations) {
    const isolate = world.isolate();
    const { status, body } = await isolate.call(operation.method, urlOf(operation), sampleOf(operation));
    await isolate.settle();
    const after = await world.snapshot();
    if (status >= 500) {
      const why = `${operation.id}: ${status} ${JSON.stringify(body)}`;
      expect([status, body.code], why).toEqual([500, "internal"]);
      expect(body.detail, why).toMatch(RECORD);
      // A pod's record may come to be before its members cannot: it counts for nothing until they do. And waiting
      // tasks may be put in the order of today's ratios before the slots turn out not to be readable.
      const isRecord = (key: string) => /:(pods|ready)$/.test(key) && body.detail.includes("members");
      expect(
        changed(before, after).filter((key) => !isRecord(key)),
        why,
      ).toEqual([]);
    }
    before = after;
  }
  const error = await world
    .isolate()
    .app.scheduled()
    .then(() => undefined, String);
  if (error !== undefined) expect(error).toMatch(RECORD);
}

/** The keys whose content differs between two snapshots. */
function changed(before: string, after: string): string[] {
  const [old, now] = [before, after].map((text) => new Map<string, unknown>(JSON.parse(text)));
  const keys = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])];
  return keys.filter((key) => JSON.stringify(old?.get(key)) !== JSON.stringify(now?.get(key)));
}

/** A sentence that says which record is broken. */
const RECORD = /\b(members|pods|policy|drain|fleets)\b/;

describe("a record of another type", () => {
  const cases: [name: string, command: string, ...args: (string | number)[]][] = [
    ["members", "SET", "junk"],
    ["members", "HSET", "junk", "junk"],
    ["pods", "SET", "junk"],
    ["pods", "ZADD", 1, "junk"],
    ["policy", "HSET", "policy", "{}"],
    ["drain", "SET", "junk"],
    ["drain", "RPUSH", "junk"],
  ];

  test.each(cases)("where %s should be: %s", async (name, command, ...args) => {
    const world = await furnished();
    await world.redis("DEL", keyOf(world, name));
    await world.redis(command, keyOf(world, name), ...args);
    await expectClean(world);
    await world.redis("DEL", keyOf(world, name));
    await expectWorks(world);
  });

  test("where the registry of fleets should be", async () => {
    const world = await furnished();
    await world.redis("SET", `${world.prefix}:fleets`, "junk");
    await expectClean(world);
    await expectWorks(world);
  });
});

describe("junk among the members", () => {
  const odd = [
    "",
    "junk",
    "/",
    "p",
    "p/a",
    "p/a/b",
    "p/a/b/1",
    "p/a/b/1/x",
    "l/a",
    "l/a/b//normal/1/r",
    "x/y/z/1/0",
    "😀",
    "a b",
  ];
  const soon = 1_790_000_010_000;
  const scores = [
    ["of the band of ready pods", [soon]],
    ["of the band of leases", [1e15 + soon]],
    ["of the bands of starting and draining pods", [2e15 + soon, 3e15 + soon]],
    ["of no band", ["-inf", -1, 0.5, 5e15, "+inf"]],
  ] as const;

  test.each(scores)("with scores %s", async (_, those) => {
    const world = await furnished();
    const entries = odd.flatMap((member, at) => [those[at % those.length] ?? 0, member]);
    await world.redis("ZADD", keyOf(world, "members"), ...entries);
    await expectClean(world);
    await world.redis("ZREM", keyOf(world, "members"), ...odd);
    await expectWorks(world);
  });
});

describe("junk among the records of pods", () => {
  const texts = [
    "junk",
    "",
    "p//0/{}",
    "p//99999999999/{}",
    "p/\u0000/1/{",
    "p",
    "p//1",
    "x//1/{}",
    "p//-1/{}",
    "p//1.5/{}",
    "p//1/",
    "p//1/[]",
    "p//1/null",
    "s/9/64/x",
  ];

  test.each(texts.slice(0, 5))("%j, and others beside it", async (text) => {
    const world = await furnished();
    const records = texts.flatMap((other, at) => [`abc/p${at}`, other]);
    await world.redis(
      "HSET",
      keyOf(world, "pods"),
      "abc/abc",
      text,
      "a/worker-0",
      text,
      "",
      "",
      "junk",
      text,
      ...records,
    );
    const pods = texts.map((_, at) => ({ pod: `p${at}`, instance: "1" }));
    expect((await fleetOf(world.isolate(), FLEET).batch("abc", pods)).status).toBe(200);
    await expectClean(world);
    await world.redis("DEL", keyOf(world, "pods"));
    await expectWorks(world);
  });
});

describe("junk for the policy", () => {
  const texts = [
    "junk",
    "{",
    "null",
    "[]",
    "{}",
    "7",
    '{"policy":{}}',
    '{"policy":{},"mixed":"x"}',
    '{"policy":{"classes":{}},"mixed":false}',
    '{"policy":{"ttl_ms":-1},"mixed":false}',
  ];

  test.each(texts)("%s: named, and mended by the next PUT", async (text) => {
    const world = await furnished();
    await world.redis("SET", keyOf(world, "policy"), text);
    const isolate = world.isolate();
    const heard = await fleetOf(isolate, FLEET).beat();
    expect([heard.status, heard.body.detail]).toEqual([500, expect.stringContaining("policy")]);
    const listed = await isolate.get("/v1/fleets");
    if (listed.status !== 200) expect(listed.body.detail).toContain(FLEET);
    expect((await fleetOf(isolate, FLEET).policy({ ttl_ms: 60_000 })).status).toBe(200);
    expect((await fleetOf(world.isolate(), FLEET).beat()).body.ttl_ms).toBe(60_000);
    await expectWorks(world);
  });
});

test("junk among the drain entries tells nobody to drain", async () => {
  const world = await furnished();
  for (const entry of ["", "junk", "a", "a/b/c", "😀"])
    await world.redis("ZADD", keyOf(world, "drain"), world.now + 1_000_000, entry);
  await expectClean(world);
  expect((await fleetOf(world.isolate(), FLEET).beat()).body.directive).toBe("run");
});

test("one fleet with broken records keeps the cron from no other", async () => {
  const world = new World();
  const names = Array.from({ length: 9 }, (_, at) => `f${at}`);
  for (const name of names) await fleetOf(world, name).beat();
  await world.settle();
  await world.redis("SET", `${world.prefix}:{fleet:f4}:members`, "junk");
  world.advance(2 * 3_600_000);
  await world.app.scheduled().catch(() => {});
  const left = await world.redis<string[]>("KEYS", `${world.prefix}:{fleet:*}:pods`);
  expect(left).toEqual([`${world.prefix}:{fleet:f4}:pods`]);
});

/** With the junk gone the fleet counts, grants and forgets as ever, and no slot has been lost on the way. */
async function expectWorks(world: World): Promise<void> {
  world.advance(40_000);
  const fleet = fleetOf(world.isolate(), FLEET);
  expect((await fleet.beat({ instance: "9" })).status).toBe(200);
  const { live, busy } = await fleet.status();
  expect({ live, busy }).toEqual({ live: 1, busy: 0 });
  const { body } = await fleet.acquire({ instance: "9" });
  expect(body).toMatchObject({ granted: true, busy: 1 });
  expect((await fleet.leave({ instance: "9" })).body).toEqual({ left: true, released: [body.lease.id] });
}
