import { createExecutionContext, createScheduledController } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { World } from "../support/world.ts";

const bindings = env as unknown as Record<string, string>;
const worker = (exports as unknown as { default: Fetcher }).default;
const redis = (...command: (string | number)[]) => new World().redis<number>(...command);

/** A fleet of the real Worker that no other test uses. */
function newFleet() {
  const base = `https://fleetgate.test/v1/fleets/w${crypto.randomUUID()}`;
  const request = (method: string, path: string, body: unknown, signal?: AbortSignal) =>
    new Request(base + path, {
      method,
      headers: { authorization: `Bearer ${inject("adminKey")}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape.
  const call = async (method: string, path: string, body?: unknown): Promise<any> =>
    (await worker.fetch(request(method, path, body))).json();
  return { name: base.split("/").at(-1) as string, request, call };
}

const pod = { cluster: "a", pod: "p" };

let logged: string[];

beforeEach(() => {
  logged = [];
  for (const way of ["log", "error"] as const) {
    vi.spyOn(console, way).mockImplementation((text) => logged.push(String(text)));
  }
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the Worker", () => {
  test("runs in workerd, counts and grants by Redis's own time", async () => {
    expect(navigator.userAgent).toBe("Cloudflare-Workers");
    const { call } = newFleet();
    const [seconds] = await new World().redis<[string, string]>("TIME");
    expect(await call("POST", "/heartbeat", pod)).toMatchObject({ live: 1, busy: 0, directive: "run" });
    const { lease } = await call("POST", "/acquire", pod);
    expect(lease.expires_at - 30_000).toBeGreaterThanOrEqual(Number(seconds) * 1_000);
    expect(lease.expires_at - 30_000).toBeLessThan(Number(seconds) * 1_000 + 60_000);
    expect(await call("POST", "/release", { leases: [lease.id] })).toEqual({
      released: [lease.id],
      missing: [],
    });
    expect(await call("GET", "")).toMatchObject({ live: 1, busy: 0 });
  });

  test("writes one line of JSON for each request, with nothing of the key or the token", async () => {
    const { call } = newFleet();
    await call("POST", "/heartbeat", pod);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? "")).toMatchObject({
      message: "request",
      route: "fleets.heartbeat",
      status: 200,
    });
    for (const secret of [inject("adminKey"), inject("restToken")]) expect(logged[0]).not.toContain(secret);
  });
});

describe("200 overlapping requests in one isolate", () => {
  test("each get their own answer, and the gate holds", async () => {
    const { call } = newFleet();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        at % 2
          ? call("POST", "/heartbeat", { cluster: "a", pod: `p${at}` })
          : call("POST", "/acquire", { cluster: `c${at}`, pod: `p${at}` }),
      ),
    );
    let late = 0;
    for (const [at, answer] of answers.entries()) {
      // On a busy machine the store may be late for some of so many at once; what it did then is not known.
      if (answer.code === "store-unavailable") late += 1;
      else if (at % 2) expect(answer).toMatchObject({ directive: "run", lost: [] });
      else if (answer.granted) expect(answer.lease.id).toContain(`c${at}/p${at}/`);
      else expect(answer.reason).toBe("at_capacity");
    }
    const { live, busy, capacity } = await call("GET", "");
    const granted = answers.filter((answer) => answer.granted).length;
    expect(live).toBeGreaterThanOrEqual(100 - late);
    expect(busy).toBeGreaterThanOrEqual(granted);
    expect(busy).toBeLessThanOrEqual(granted + late);
    expect(busy).toBeLessThanOrEqual(capacity);
    expect(late).toBeLessThan(100);
  });
});

describe("a caller that hangs up right after sending", () => {
  /** Sends and hangs up at once; whether an answer still came is all the same. */
  async function hangUp(request: (signal: AbortSignal) => Request): Promise<void> {
    const controller = new AbortController();
    const sent = worker.fetch(request(controller.signal)).then(
      (answer) => answer.text(),
      () => "",
    );
    controller.abort();
    await sent;
  }

  test("a release: it is done or can be repeated, and the slot is free", async () => {
    const { call, request } = newFleet();
    for (let turn = 0; turn < 20; turn++) {
      const { lease } = await call("POST", "/acquire", pod);
      await hangUp((signal) => request("POST", "/release", { leases: [lease.id] }, signal));
      const { released, missing } = await call("POST", "/release", { leases: [lease.id] });
      expect([...released, ...missing]).toEqual([lease.id]);
      expect((await call("GET", "")).busy).toBe(0);
    }
  });

  test("an acquire: its repeat has the one lease", async () => {
    const { call, request } = newFleet();
    for (let turn = 0; turn < 20; turn++) {
      const body = { ...pod, request_id: `r${turn}` };
      await hangUp((signal) => request("POST", "/acquire", body, signal));
      const { lease } = await call("POST", "/acquire", body);
      expect((await call("GET", "")).busy).toBe(1);
      await call("POST", "/release", { leases: [lease.id] });
    }
  });

  test("a waiting acquire: it waits no longer and takes nothing", async () => {
    const { call, request } = newFleet();
    const { lease } = await call("POST", "/acquire", pod);
    await hangUp((signal) => request("POST", "/acquire", { ...pod, wait_ms: 25_000 }, signal));
    await call("POST", "/release", { leases: [lease.id] });
    expect((await call("GET", "")).busy).toBe(0);
  });
});

test("scheduled() purges what has lapsed", async () => {
  const { default: entry } = await import("../../src/worker.ts");
  const { name, call } = newFleet();
  await call("POST", "/heartbeat", pod);
  const members = `fg:{fleet:${name}}:members`;
  const long = Date.now() - 2 * 3_600_000;
  await redis("ZADD", members, long, "p/a/gone//0", 1e15 + long, "l/a/gone//normal/1000/r");
  // It visits some of the fleets it knows, in turn.
  for (let run = 0; run < 20 && (await redis("ZCARD", members)) > 1; run++) {
    await entry.scheduled(createScheduledController(), env as never);
  }
  expect(await redis("ZCARD", members)).toBe(1);
  expect(await call("GET", "")).toMatchObject({ live: 1 });
});

describe("wrong bindings are a 500 that names the binding and not its value", () => {
  // As in an isolate that has just started: the one of the other tests has its app already.
  let fresh: typeof import("../../src/worker.ts").default;

  beforeAll(async () => {
    vi.resetModules();
    fresh = (await import("../../src/worker.ts")).default;
  });

  test.each<[binding: string, value: string | undefined]>([
    ["UPSTASH_REDIS_REST_URL", undefined],
    ["UPSTASH_REDIS_REST_URL", "secret-value"],
    ["UPSTASH_REDIS_REST_URL", "ftp://secret-value"],
    ["UPSTASH_REDIS_REST_TOKEN", undefined],
    ["UPSTASH_REDIS_REST_TOKEN", ""],
    ["FLEETGATE_KEYS", undefined],
    ["FLEETGATE_KEYS", "secret-value"],
    ["FLEETGATE_KEYS", '[{"id":"secret-value"}]'],
    ["FLEETGATE_KEYS", '[{"id":"a","sha256":"secret-value","scopes":["admin"]}]'],
    ["FLEETGATE_KEYS", `[{"id":"a","sha256":"${"0".repeat(64)}","scopes":["secret-value"]}]`],
    ["FLEETGATE_KEYS", `[{"id":"a","sha256":"${"0".repeat(64)}","scopes":["admin"],"secret-value":1}]`],
    ["FLEETGATE_PREFIX", "secret value"],
    ["FLEETGATE_KEY_LOCKING", "secret-value"],
    ["LOG_LEVEL", "secret-value"],
  ])("%s = %s", async (binding, value) => {
    const context = createExecutionContext();
    const wrong = { ...bindings, [binding]: value };
    const answer = await fresh.fetch(
      new Request("https://fleetgate.test/v1/fleets"),
      wrong as never,
      context,
    );
    const text = await answer.text();
    const problem = JSON.parse(text);
    expect(answer.status).toBe(500);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(problem).toMatchObject({
      status: 500,
      code: "internal",
      detail: expect.stringContaining(binding),
    });
    expect(answer.headers.get("x-request-id")).toBe(problem.trace_id);
    for (const line of [text, ...logged]) {
      expect(line).not.toContain("secret");
      for (const secret of [bindings.UPSTASH_REDIS_REST_TOKEN, "0".repeat(64)])
        expect(line).not.toContain(secret);
    }
    expect(logged.join()).toContain(binding);
  });

  test("and the same isolate serves once they are right", async () => {
    const ask = async (given: Record<string, string>) =>
      (
        await fresh.fetch(
          new Request("https://fleetgate.test/healthz"),
          given as never,
          createExecutionContext(),
        )
      ).status;
    expect(await ask({})).toBe(500);
    expect(await ask(bindings)).toBe(200);
  });
});
