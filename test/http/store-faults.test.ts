import { beforeAll, describe, expect, inject, test } from "vitest";
import { FAULTS, type Fault, type FaultLane, type FaultyKey } from "../support/faults.ts";
import { fleetOf } from "../support/fleet.ts";
import { furnish } from "../support/furnish.ts";
import { type Described, operationsOf, sampleOf, urlOf } from "../support/openapi.ts";
import { queueOf } from "../support/queue.ts";
import { type Heard, World } from "../support/world.ts";

let operations: Described[];

beforeAll(async () => {
  operations = await operationsOf(new World());
  // A store that does not know a script yet is asked twice, which would hide what happens to the answer.
  await callAll("none", undefined, 20_000);
});

/** Faults after which our own promise of the reply's shape is broken; the others mean that the store is away. */
const OURS: Fault[] = ["null", "arity", "wrongtype"];

const SECRETS = ["redis.call", "KEYS[", "evalsha", "EVAL", "secret-pod", "secret-request", "secret-lease"];

/** How long a trip may take here, for the sake of the test's own time. */
const TIMEOUT_MS = 800;

/** Every call through a store that misbehaves, all at once; `suffix` lets the other keys work. */
async function callAll(fault: Fault, suffix?: FaultyKey, timeoutMs = TIMEOUT_MS) {
  const world = new World({ timeoutMs });
  const taskLease = await furnish(world);
  const { isolate, lane } = world.faulty(fault, suffix);
  const calls = operations.map(async (operation): Promise<[Described, Heard]> => {
    const body = withSecrets(sampleOf(operation), taskLease);
    const heard = await isolate.call(operation.method, urlOf(operation), body);
    return [operation, heard];
  });
  return { isolate, answers: await Promise.all(calls), asked: await lane.seen() };
}

function withSecrets(body: unknown, taskLease: string): unknown {
  if (body === undefined) return undefined;
  const text = JSON.stringify(body)
    .replace('"lease":"abc"', `"lease":"${taskLease}"`)
    .replaceAll(/"(pod|request_id)":"[^"]*"/g, (_, name: string) => {
      return `"${name}":"secret-${name === "pod" ? "pod" : "request"}"`;
    });
  return JSON.parse(
    text.replaceAll(/"leases":\["[^"]*"\]/g, '"leases":["l/abc/secret-pod//normal/30000/secret-lease"]'),
  );
}

function expectFault({ id }: Described, { status, body, headers }: Heard, fault: Fault): void {
  const why = `${id}, ${fault}: ${status} ${JSON.stringify(body)}`;
  expect(headers.get("content-type"), why).toBe("application/problem+json");
  if (status === 503) {
    expect(body.code, why).toBe("store-unavailable");
    expect(headers.get("retry-after"), why).toMatch(/^[1-9]\d*$/);
  } else {
    expect(OURS, why).toContain(fault);
    expect([status, body.code], why).toEqual([500, "internal"]);
    expect(body.detail, why).not.toContain("unexpected");
  }
}

/** Calls that had an answer without asking the misbehaving key are none of this test's business. */
const failed = ([, { status }]: [Described, Heard]) => status >= 500;

describe.each(FAULTS)("a store that misbehaves: %s", (fault) => {
  test("every call is 503 with Retry-After at once, or 500 for a reply of the wrong shape", async () => {
    const { isolate, answers, asked } = await callAll(fault);
    // Each waits for one trip at most that fails, so with 1.5 s a trip all is over within 2 s.
    if (fault === "hang") expect(asked).toBeLessThanOrEqual(answers.length);
    for (const [operation, heard] of answers) {
      // Null is what a store says of a record that is not there: the queue's.
      if (fault === "null" && (heard.status === 404 || operation.id === "operate.scale-queue")) continue;
      // A scrape tells what it knows: that the store is down.
      if (operation.id === "operate.metrics") continue;
      expectFault(operation, heard, fault);
      expect(JSON.stringify(heard.body)).not.toContain('"granted":true');
    }
    expectSecret(isolate, answers);
  });

  test("the same where only the members of the fleet cannot be reached", async () => {
    const { isolate, answers, asked } = await callAll(fault, "members");
    if (fault === "hang") expect(asked).toBeLessThanOrEqual(answers.length);
    expect(answers.filter(failed).length).toBeGreaterThanOrEqual(8);
    for (const [operation, heard] of answers) {
      if (heard.status >= 500) expectFault(operation, heard, fault);
    }
    for (const [operation, { body }] of answers) expect(body.granted ?? false, operation.id).toBe(false);
    expectSecret(isolate, answers);
  });
});

/** Nothing of the command stands in the answers or in the log. */
function expectSecret(isolate: World, answers: [Described, Heard][]): void {
  const bodies = answers.filter(failed).map(([, { body }]) => JSON.stringify(body));
  const texts = [...bodies, JSON.stringify(isolate.lines)];
  for (const text of texts) {
    for (const secret of [...SECRETS, inject("restToken")]) expect(text).not.toContain(secret);
  }
}

/** Calls through a lane until the call got there: a connection that the lane closed may be used once more in vain. */
async function lose(lane: FaultLane, call: () => Promise<Heard>): Promise<void> {
  const before = await lane.seen();
  do expect((await call()).status).toBe(503);
  while ((await lane.seen()) === before);
}

describe("a lost answer", () => {
  test.each<Fault>(["drop", "cut", "truncated"])(
    "%s: a retry of the acquire gives the one lease",
    async (fault) => {
      const world = new World();
      const fleet = fleetOf(world);
      await fleet.beatMany(5);
      const lossy = fleetOf(world.faulty(fault, "members").isolate);
      expect((await lossy.acquire({ request_id: "r1" })).status).toBe(503);
      expect((await fleet.status()).busy).toBe(1);
      const retried = await fleet.acquire({ request_id: "r1" });
      expect(retried.body).toMatchObject({ granted: true, busy: 1 });
      expect((await fleet.pods()).pods[0].leases).toMatchObject([{ id: retried.body.lease.id }]);
    },
  );

  test("a beat, a release and a leave whose answers were lost have been done and may be repeated", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    const { lane, isolate } = world.faulty("drop", "members");
    const lossy = fleetOf(isolate);
    await lose(lane, () => lossy.beat({ instance: "1" }));
    expect((await fleet.status()).live).toBe(1);
    expect((await fleet.beat({ instance: "1" })).status).toBe(200);
    const held = (await fleet.acquire({ instance: "1" })).body.lease.id;
    await lose(lane, () => lossy.release(held));
    expect((await fleet.release(held)).body).toEqual({ released: [], missing: [held] });
    await lose(lane, () => lossy.leave({ instance: "1" }));
    expect((await fleet.leave({ instance: "1" })).body).toEqual({ left: false, released: [] });
    expect(await fleet.status()).toMatchObject({ live: 0, busy: 0 });
  });

  test("a drain whose answer was lost is in force", async () => {
    const world = new World();
    const { lane, isolate } = world.faulty("drop", "drain");
    await lose(lane, () => fleetOf(isolate).drain({ drain: true }));
    expect((await fleetOf(world.isolate()).beat()).body.directive).toBe("drain");
  });
});

describe("what is sent", () => {
  test("goes once: nothing is repeated blindly", async () => {
    const world = new World();
    for (const fault of ["drop", "error500", "quota429", "html502", "refuse"] as const) {
      const { lane, isolate } = world.faulty(fault, "members");
      await fleetOf(isolate).acquire();
      // Once, or never where a connection that the lane had closed was used.
      expect(await lane.seen(), fault).toBeLessThanOrEqual(1);
    }
  });

  test("goes a second time, as EVAL, only where the store has forgotten the script, and happens once", async () => {
    const world = new World();
    const { lane, isolate } = world.faulty("forgetful", "members");
    const fleet = fleetOf(isolate);
    expect((await fleet.beat()).body).toMatchObject({ live: 1 });
    await isolate.settle();
    const before = await lane.seen();
    expect((await fleet.acquire()).body).toMatchObject({ granted: true, busy: 1 });
    expect(await lane.seen()).toBe(before + 2);
    expect(await fleet.status()).toMatchObject({ live: 1, busy: 1 });
  });

  test("goes no third time where it says so twice in a row", async () => {
    const { lane, isolate } = new World().faulty("noscript", "members");
    expect((await fleetOf(isolate).beat()).status).toBe(503);
    expect(await lane.seen()).toBe(2);
  });
});

test("a waiting acquire ends with 503 when the store goes away, and holds nothing", async () => {
  const world = new World({ timeoutMs: 1_500 });
  const fleet = fleetOf(world);
  await fleet.status();
  const waits = await Promise.all(
    [1, 2, 3].map(async () => {
      const started = performance.now();
      const heard = await fleetOf(world.faulty("hang", "members").isolate).acquire({ wait_ms: 25_000 });
      expect(heard.status).toBe(503);
      return performance.now() - started;
    }),
  );
  // The best of three: a busy machine may hold up one.
  expect(Math.min(...waits)).toBeLessThan(2_000);
  expect((await fleet.status()).busy).toBe(0);
});

test("replies for fewer leases or tasks than were asked are no answer", async () => {
  const world = new World();
  const { isolate } = world.faulty("short", "members");
  await queueOf(world).configure();
  const held = ["l/a/worker-0//normal/30000/r1", "l/a/worker-0//normal/30000/r2"];
  for (const heard of [
    await fleetOf(isolate).release(...held),
    await queueOf(isolate).enqueue(),
    await queueOf(isolate).batch([{ payload: 1 }, { payload: 2 }]),
  ])
    expect([heard.status, heard.body.code]).toEqual([500, "internal"]);
});

test("a denial that is remembered outlives the store, a grant never comes of it", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.acquire();
  const { isolate } = world.faulty("none");
  expect((await fleetOf(isolate).acquire()).body.granted).toBe(false);
  world.advance(200);
  const { isolate: down } = world.faulty("refuse", "members");
  expect((await fleetOf(down).acquire()).status).toBe(503);
});

test("scheduled() fails without a word of what it sent", async () => {
  const world = new World();
  await fleetOf(world).beat();
  await world.settle();
  const { isolate } = world.faulty("quota400", "members");
  const error = await isolate.app.scheduled().then(() => undefined, String);
  expect(error).toBeDefined();
  for (const secret of [...SECRETS, inject("restToken"), world.prefix]) expect(error).not.toContain(secret);
});

test("what goes on in the background after the answer fails in silence", async () => {
  const world = new World();
  const { isolate } = world.faulty("refuse", "members");
  await fleetOf(isolate).policy({ paused: true });
  await expect(isolate.settle()).resolves.toBeUndefined();
});
