import { expect, test } from "vitest";
import { claimOne, idsOf, openQueue, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

test("PUT gives back the whole configuration and replaces it whole", async () => {
  const { queue } = await openQueue();
  const full = {
    fleet: "render",
    lease_ttl_ms: 1_000,
    max_deliveries: 1,
    time_limit_ms: 2_000,
    soft_time_limit_ms: 1_500,
    max_backlog: 7,
    result_ttl_ms: 1_000,
    paused: true,
  };
  expect((await queue.configure(full)).body).toEqual(full);
  expect((await queue.status()).config).toEqual(full);
  const { body } = await queue.configure();
  expect(body).toEqual({
    fleet: "render",
    lease_ttl_ms: 30_000,
    max_deliveries: 5,
    time_limit_ms: 3_600_000,
    result_ttl_ms: 86_400_000,
    paused: false,
  });
  expect((await queue.status()).config).toEqual(body);
});

test("the fleet of a queue cannot change", async () => {
  const { queue, world } = await openQueue(10, { max_backlog: 5 });
  const { status, body } = await queue.configure({ fleet: "other", max_backlog: 6 });
  expect([status, body.code]).toEqual([409, "fleet-fixed"]);
  expect((await queue.status()).config).toMatchObject({ fleet: "render", max_backlog: 5 });
  const answers = await Promise.all([
    queueOf(world, "race").configure({ fleet: "one" }),
    queueOf(world.isolate(), "race").configure({ fleet: "two" }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
});

test.each([
  ["fleet", { fleet: undefined }],
  ["fleet", { fleet: "a b" }],
  ["lease_ttl_ms", { lease_ttl_ms: 999 }],
  ["lease_ttl_ms", { lease_ttl_ms: 86_400_001 }],
  ["max_deliveries", { max_deliveries: 0 }],
  ["time_limit_ms", { time_limit_ms: 1.5 }],
  ["soft_time_limit_ms", { soft_time_limit_ms: 3_600_000 }],
  ["soft_time_limit_ms", { soft_time_limit_ms: 5_000, time_limit_ms: 5_000 }],
  ["max_backlog", { max_backlog: 0 }],
  ["result_ttl_ms", { result_ttl_ms: "1" }],
  ["paused", { paused: 1 }],
  ["colour", { colour: "red" }],
])("a wrong %s is named", async (path, fields) => {
  const { queue } = await openQueue();
  const { status, body } = await queue.configure(fields);
  expect(status).toBe(400);
  expect(body.errors.map((error: { path: string }) => error.path)).toEqual([path]);
});

test("a change is in force at once here and within 5 s elsewhere", async () => {
  const { queue, world } = await openQueue();
  const other = queueOf(world.isolate());
  await queue.enqueue({ id: "t1" });
  expect((await other.status()).config.paused).toBe(false);
  await queue.configure({ paused: true });
  expect((await queue.claim()).body.reason).toBe("paused");
  world.advance(5_000);
  expect((await other.claim()).body.reason).toBe("paused");
});

test("a paused queue, or a queue of a paused fleet, gives nothing out and takes tasks in", async () => {
  const { queue, world, fleet } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const held = await queue.claim({ request_id: "r1" });
  for (const pause of [
    () => queue.configure({ paused: true }),
    () => fleet.policy({ ttl_ms: 86_400_000, paused: true }),
  ]) {
    await pause();
    expect((await queue.claim()).body).toEqual({
      tasks: [],
      reason: "paused",
      retry_after_ms: expect.any(Number),
    });
    expect((await queue.claim({ request_id: "new" })).body.reason).toBe("paused");
    expect(idsOf(await queue.claim({ request_id: "r1" }))).toEqual(["t1"]);
    expect((await queue.enqueue()).status).toBe(201);
    await queue.configure();
    await fleet.policy({ ttl_ms: 86_400_000 });
    world.advance(5_000);
  }
  expect((await queue.claim({ max: 10 })).body.tasks).toHaveLength(2);
  expect((await queue.complete(held.body.tasks[0].lease.id)).status).toBe(200);
});

test("a key that may touch other queues or fleets only reaches nothing here", async () => {
  const { queue, world } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const { lease } = await claimOne(queue);
  const calls: [string, string, unknown?][] = [
    ["PUT", "", { fleet: "elsewhere" }],
    ["GET", ""],
    ["POST", "/tasks", { payload: 1 }],
    ["POST", "/tasks/batch", { tasks: [{ payload: 1 }] }],
    ["POST", "/claim", { cluster: "a", pod: "p" }],
    ["POST", "/complete", { lease: lease.id }],
    ["POST", "/fail", { lease: lease.id }],
    ["GET", "/tasks/t1"],
    ["DELETE", "/tasks/t1"],
    ["GET", "/dead"],
    ["POST", "/redrive", {}],
    ["POST", "/purge", { state: "ready" }],
  ];
  const before = await world.snapshot();
  for (const [method, path, body] of calls) {
    const answer = await world.call(method, `/v1/queues/infer${path}`, body, "foreign-key");
    expect([answer.status, answer.body.code], path).toEqual([403, "not-yours"]);
  }
  expect(await world.snapshot()).toBe(before);
  expect((await world.call("PUT", "/v1/queues/elsewhere", { fleet: "render" }, "foreign-key")).status).toBe(
    403,
  );
  await queueOf(world, "elsewhere").configure();
  const pod = { cluster: "a", pod: "p" };
  expect((await world.call("POST", "/v1/queues/elsewhere/claim", pod, "foreign-key")).body.code).toBe(
    "not-yours",
  );
});

test.each([
  ["worker", ["claim", "complete", "fail"]],
  ["producer", ["enqueue", "batch", "task", "cancel"]],
  ["read", ["status", "task", "dead"]],
] as const)("a key of scope %s may %s and nothing else", async (scope, may) => {
  const { queue, world } = await openQueue();
  await queue.enqueue({ id: "t1" });
  const calls: Record<string, [string, string, unknown?]> = {
    configure: ["PUT", "", { fleet: "render" }],
    status: ["GET", ""],
    enqueue: ["POST", "/tasks", { payload: 1 }],
    batch: ["POST", "/tasks/batch", { tasks: [{ payload: 1 }] }],
    claim: ["POST", "/claim", { cluster: "a", pod: "p" }],
    complete: ["POST", "/complete", { lease: "x" }],
    fail: ["POST", "/fail", { lease: "x" }],
    task: ["GET", "/tasks/t1"],
    cancel: ["DELETE", "/tasks/nobody"],
    dead: ["GET", "/dead"],
    redrive: ["POST", "/redrive", {}],
    purge: ["POST", "/purge", { state: "ready" }],
  };
  for (const [name, [method, path, body]] of Object.entries(calls)) {
    const answer = await world.call(method, `/v1/queues/infer${path}`, body, `${scope}-key`);
    const allowed = (may as readonly string[]).includes(name);
    expect(answer.body.code === "wrong-scope", name).toBe(!allowed);
  }
});

test("a list of one fleet's queues has them all, however many queues others have", async () => {
  const world = new World();
  for (let at = 0; at < 205; at++) await queueOf(world, `a-${at}`, "busy").configure();
  await queueOf(world, "z", "render").configure();
  await world.settle();
  const listed = async (query: string) => (await world.get(`/v1/queues${query}`)).body.queues;
  expect((await listed("?fleet=render")).map(({ queue }: { queue: string }) => queue)).toEqual(["z"]);
  expect(await listed("?fleet=busy")).toHaveLength(200);
  expect(await listed("")).toHaveLength(200);
});
