import { beforeAll, describe, expect, inject, test } from "vitest";
import { furnish } from "../support/furnish.ts";
import { type Described, operationsOf, sampleOf, urlOf } from "../support/openapi.ts";
import { type Heard, World } from "../support/world.ts";

type Scope = "worker" | "producer" | "read";

/** The table of scopes in PROTOCOL (Common rules), by the last word of the path. */
const WORKER = /\/(heartbeats?|acquire|release|leave|claim|complete|fail|take|settle|guard|check)$/;
const PRODUCER = /\/(tasks|batch|take|settle|guard|check|add)$/;

function scopesOf({ method, path }: Described): Scope[] {
  const isTask = path.endsWith("/tasks/{id}");
  if (method === "GET") return isTask ? ["read", "producer"] : ["read"];
  if (method === "DELETE") return isTask ? ["producer"] : [];
  if (method !== "POST") return [];
  return [
    ...(WORKER.test(path) ? ["worker" as const] : []),
    ...(PRODUCER.test(path) ? ["producer" as const] : []),
  ];
}

let world: World;
let operations: Described[];

beforeAll(async () => {
  world = new World();
  await furnish(world);
  operations = await operationsOf(world);
});

function call(
  operation: Described,
  authorization: string | undefined,
  values: Record<string, string> = {},
): Promise<Heard> {
  const sample = sampleOf(operation);
  const body =
    sample === undefined
      ? undefined
      : JSON.stringify(sample).replace("some-fleet", values.fleet ?? "some-fleet");
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (authorization !== undefined) headers.authorization = authorization;
  const init = { method: operation.method, headers, ...(body === undefined ? {} : { body }) };
  return world.send(urlOf(operation, values), init);
}

/** Calls every operation and expects this refusal of each, with the store as it was. */
async function expectRefused(
  authorization: string | undefined,
  status: number,
  code: string,
  which = operations,
) {
  const before = await world.snapshot();
  for (const operation of which) {
    const heard = await call(operation, authorization);
    expect(heard.status, operation.id).toBe(status);
    expect(heard.body.code, operation.id).toBe(code);
    if (status === 401) expect(heard.headers.get("www-authenticate")).toMatch(/^Bearer/);
  }
  await world.settle();
  expect(await world.snapshot()).toBe(before);
}

describe("without a good key every call is 401", () => {
  test.each<[string, string | undefined]>([
    ["no header", undefined],
    ["an empty header", ""],
    ["a key that is not known", "Bearer fg_0123456789012345678901234567890123456789"],
    ["a good key in another case", "Bearer ADMIN-KEY"],
    ["a good key cut short", "Bearer admin-ke"],
    ["a good key and more", "Bearer admin-key2"],
    ["the hash of a good key", "Bearer 69a5265506c94c77b787a7d7377b7685a0eff82e33920a71e7ee22cd6154953e"],
    ["no scheme", "admin-key"],
    ["another scheme", "Basic YWRtaW4ta2V5Og=="],
    ["a scheme alone", "Bearer"],
    ["two spaces", "Bearer  admin-key"],
    ["two keys", "Bearer admin-key admin-key"],
    ["a list of keys", "Bearer admin-key,worker-key"],
    ["a tab between", "Bearer\tadmin-key"],
    ["a key of 10,000 characters", `Bearer ${"a".repeat(10_000)}`],
  ])("%s", async (_, authorization) => {
    await expectRefused(authorization, 401, "unauthorized");
  });

  test("and so it is where the rest of the call is wrong as well", async () => {
    for (const { method, path } of operations) {
      const url = path.replaceAll(/\{\w+\}/g, "%00");
      expect((await world.send(url, { method })).status).toBe(401);
    }
  });
});

describe("a key does what its scope may, and nothing more", () => {
  test.each<Scope>(["worker", "producer", "read"])("%s", async (scope) => {
    const [allowed, refused] = [[] as Described[], [] as Described[]];
    for (const one of operations) (scopesOf(one).includes(scope) ? allowed : refused).push(one);
    expect(refused.length).toBeGreaterThan(0);
    await expectRefused(`Bearer ${scope}-key`, 403, "wrong-scope", refused);
    for (const operation of allowed) {
      const { status } = await call(operation, `Bearer ${scope}-key`);
      expect([401, 403], operation.id).not.toContain(status);
    }
  });

  test("admin may do everything", async () => {
    for (const operation of operations) {
      expect([401, 403], operation.id).not.toContain((await call(operation, "Bearer admin-key")).status);
    }
  });

  test("the scheme is read in any case", async () => {
    for (const scheme of ["bearer", "BEARER"]) {
      expect(
        (await world.send("/v1/fleets", { headers: { authorization: `${scheme} read-key` } })).status,
      ).toBe(200);
    }
  });
});

describe("a key for other fleets and queues", () => {
  const named = () => operations.filter(({ path }) => /\{(fleet|queue)\}/.test(path));

  test("is 403 not-yours for every call that names one outside its list, whatever its scope", async () => {
    await expectRefused("Bearer foreign-key", 403, "not-yours", named());
  });

  test("may call with those in its list", async () => {
    for (const operation of named()) {
      const { status } = await call(operation, "Bearer foreign-key", {
        fleet: "elsewhere",
        queue: "elsewhere",
      });
      expect([401, 403], operation.id).not.toContain(status);
    }
  });

  test("is refused one that it names in a body or a query, too", async () => {
    const limit = { algorithm: "token_bucket", capacity: 10, refill_per_s: 1 };
    const pace = { target_wait_ms: 1_000, min_per_s: 1, max_per_s: 2 };
    const ask = async (method: string, path: string, body?: unknown) => {
      const heard = await world.call(method, path, body, "foreign-key");
      return [heard.status, heard.body.code];
    };
    const refused = [403, "not-yours"];
    expect(await ask("PUT", "/v1/queues/elsewhere", { fleet: "some-fleet" })).toEqual(refused);
    expect(await ask("GET", "/v1/queues?fleet=some-fleet")).toEqual(refused);
    const adapting = (queue: string) => ({ ...limit, adapt: { queue, ...pace } });
    expect(await ask("PUT", "/v1/limits/pace", adapting("some-queue"))).toEqual(refused);
    expect(await ask("PUT", "/v1/limits/pace", adapting("elsewhere"))).toEqual([200, undefined]);
  });

  test("is not fooled by another spelling of the name", async () => {
    for (const operation of named()) {
      for (const name of ["Elsewhere", "elsewhere%20", "elsewhere%00", "elsewhere.", "%65lsewherf"]) {
        const { status } = await call(operation, "Bearer foreign-key", { fleet: name, queue: name });
        expect([400, 403], `${operation.id} ${name}`).toContain(status);
      }
    }
  });
});

test("the pages that need no key show nothing of any fleet", async () => {
  await world.post("/v1/fleets/secret-fleet/heartbeat", { cluster: "secret-cluster", pod: "secret-pod" });
  for (const page of ["/healthz", "/openapi.json", "/docs"]) {
    const { status, body } = await world.send(page, {});
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain("secret-");
  }
});

test("no key, no hash and no token of the store stands in any answer or log line", async () => {
  const secrets = [
    "admin-key",
    "worker-key",
    "fg_wrong-key",
    "69a5265506c94c77b787a7d7377b7685a0eff82e33920a71e7ee22cd6154953e",
    inject("restToken"),
    new URL(world.restUrl).host,
  ];
  const { isolate } = world.faulty("quota400");
  for (const one of [world, isolate]) {
    const answers: string[] = [];
    for (const operation of operations) {
      for (const key of ["admin-key", "worker-key", "fg_wrong-key"]) {
        const { body, headers } = await one.call(
          operation.method,
          urlOf(operation),
          sampleOf(operation),
          key,
        );
        answers.push(JSON.stringify([body, [...headers]]));
      }
    }
    await one.settle();
    for (const text of [...answers, JSON.stringify(one.lines)]) {
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  }
});

test("a log line names the key by its id", async () => {
  const other = new World();
  await other.call("GET", "/v1/fleets", undefined, "read-key");
  expect(other.lines).toMatchObject([
    { message: "request", route: "fleets.list", status: 200, caller: "read" },
  ]);
});
