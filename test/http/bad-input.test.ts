import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PROBLEMS, type ProblemBody } from "../../src/problems.ts";
import { furnish } from "../support/furnish.ts";
import {
  accepts,
  type Described,
  operationsOf,
  placesIn,
  sampleOf,
  textWith,
  urlOf,
} from "../support/openapi.ts";
import { type Heard, World } from "../support/world.ts";

let world: World;
let operations: Described[];
let before: string;

beforeAll(async () => {
  world = new World();
  operations = await operationsOf(world);
  await furnish(world);
});

beforeEach(async () => {
  before = await world.snapshot();
});

const withBody = () => operations.filter(({ body }) => body !== undefined);

function send(
  operation: Described,
  body: BodyInit | null,
  headers: Record<string, string> = {},
  url = urlOf(operation),
) {
  const { method } = operation;
  const all = { authorization: "Bearer admin-key", "content-type": "application/json", ...headers };
  return world.send(url, { method, headers: all, ...(body === null ? {} : { body }) });
}

/** A 4xx problem of RFC 9457 with our fields; its `errors` name `field` when one is given. */
function expectProblem({ status, body, headers }: Heard, why: string, field?: string, wanted = 400): void {
  expect(status, why).toBe(wanted);
  expect(headers.get("content-type"), why).toBe("application/problem+json");
  const { type, title, detail, code, trace_id, errors } = body as ProblemBody;
  expect(PROBLEMS[code], why).toEqual({ status, title });
  expect(type).toBe(`urn:fleetgate:problem:${code}`);
  expect(detail.length, why).toBeGreaterThan(0);
  expect(trace_id).toBe(headers.get("x-request-id"));
  if (field === undefined) return;
  const named = errors?.map(({ path }) => path) ?? [];
  expect(
    named.some((path) => path === field || path.startsWith(`${field}.`)),
    `${why}: ${named}`,
  ).toBe(true);
}

async function expectUnchanged(): Promise<void> {
  await world.settle();
  expect(await world.snapshot()).toBe(before);
}

/** Taken, or refused for what only the store could know. */
function expectTaken({ id }: Described, { status, body }: Heard): void {
  const isKnownLater = body.code === "spans-shards" || body.code === "not-found";
  expect(isKnownLater || [200, 201, 409].includes(status), `${id}: ${status} ${JSON.stringify(body)}`).toBe(
    true,
  );
}

test("every operation of the document takes the sample body that these tests start from", async () => {
  const other = new World();
  await furnish(other);
  const last = ({ method }: Described) => Number(method === "DELETE");
  for (const operation of operations.toSorted((one, another) => last(one) - last(another))) {
    expectTaken(operation, await other.call(operation.method, urlOf(operation), sampleOf(operation)));
  }
});

describe("a body that is no body of this call is refused with 400", () => {
  const bodies: [what: string, body: string | Uint8Array | null, field: string][] = [
    ["none at all", null, "body"],
    ["an empty one", "", "body"],
    ["white space", " \n\t", "body"],
    ["a brace", "{", "body"],
    ["a list", "[]", "body"],
    ["a text", '"x"', "body"],
    ["null", "null", "body"],
    ["a number", "7", "body"],
    ["NaN", "NaN", "body"],
    ["JSON and more", "{} {}", "body"],
    ["a megabyte of brackets", "[".repeat(1_048_576), "body"],
    ["a megabyte of brackets that close", "[".repeat(524_288) + "]".repeat(524_288), "body"],
    ["a megabyte of nested objects", '{"a":'.repeat(209_715), "body"],
    ["broken UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "body"],
    ["UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]), "body"],
    ["a field that objects know", '{"__proto__":{"cluster":"a","pod":"p"}}', "__proto__"],
  ];

  test.each(bodies)("%s", async (what, body, field) => {
    for (const operation of withBody())
      expectProblem(await send(operation, body), `${operation.id}, ${what}`, field);
    await expectUnchanged();
  });

  test("one that breaks off, since its sender went away", async () => {
    for (const operation of withBody()) {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
        pull: (controller) => controller.error(new Error("Network connection lost.")),
      });
      expectProblem(await send(operation, body), operation.id, "body");
    }
    await expectUnchanged();
  });

  test.each(["no_such_field", "constructor", "toString", "__proto__", "x".repeat(300)])(
    "the sample with a field more: %s",
    async (field) => {
      for (const operation of withBody()) {
        const text = JSON.stringify(sampleOf(operation)).replace(/}$/, `,"${field}":1}`).replace("{,", "{");
        const shown = field.length > 64 ? `${field.slice(0, 64)}…` : field;
        expectProblem(await send(operation, text), operation.id, shown);
      }
      await expectUnchanged();
    },
  );

  test("the sample with one of its fields given twice", async () => {
    for (const operation of withBody()) {
      const body = sampleOf(operation) as Record<string, unknown>;
      for (const field of Object.keys(body)) {
        const text = JSON.stringify(body);
        const twice = `${text.slice(0, -1)},${JSON.stringify(field)}:${JSON.stringify(body[field])}}`;
        expectProblem(await send(operation, twice), `${operation.id}, ${field}`, field);
      }
    }
    await expectUnchanged();
  });

  test("one of another content type", async () => {
    const types = ["text/plain", "application/jsonx", "text/json", "application/x-www-form-urlencoded", ""];
    for (const operation of withBody()) {
      for (const type of types) {
        const answer = await send(operation, JSON.stringify(sampleOf(operation)), { "content-type": type });
        expectProblem(answer, `${operation.id}, ${type}`, "content-type");
      }
    }
    await expectUnchanged();
  });
});

describe("a call that takes no body", () => {
  const without = () => operations.filter(({ method, body }) => method === "POST" && body === undefined);

  const odd = ["{", "[]", '"x"', "null", "{} {}", '{"no_such_field":1}', "[".repeat(1_048_576)];

  test.each(odd.map((text) => [text.slice(0, 24), text]))(
    "refuses one, and does nothing: %s",
    async (_, body) => {
      expect(without().length).toBeGreaterThan(0);
      for (const operation of without()) expectProblem(await send(operation, body), operation.id, "body");
      await expectUnchanged();
    },
  );

  test("refuses one over 1 MiB with 413", async () => {
    const body = " ".repeat(1_048_577);
    for (const operation of without())
      expectProblem(await send(operation, body), operation.id, undefined, 413);
    await expectUnchanged();
  });

  test.each([null, "", " \n", "{}", "{ }"])("is content with %j, of whatever type", async (body) => {
    const other = new World();
    await furnish(other);
    for (const operation of without()) {
      const headers = { authorization: "Bearer admin-key" };
      const init = { method: "POST", headers, ...(body === null ? {} : { body }) };
      expectTaken(operation, await other.send(urlOf(operation), init));
    }
  });
});

describe("each field wrong in turn is refused by name", () => {
  const wrong = [
    "-1",
    "0",
    "-0",
    "1e400",
    "-1e400",
    "1.5",
    "1e-7",
    "9007199254740993",
    "null",
    "true",
    '"5"',
    '"NaN"',
    '""',
    '"a b"',
    '"a/b"',
    '"a{b}"',
    '"\\u0000"',
    '"ü"',
    '"\\ud800"',
    `"${"x".repeat(2_000)}"`,
    "[]",
    "[[]]",
    "{}",
    '{"__proto__":1}',
  ];

  test.each(wrong.map((text) => [text.slice(0, 24), text]))("%s", async (_, text) => {
    for (const operation of withBody()) {
      const sample = sampleOf(operation);
      for (const { path, schema } of placesIn(operation.body ?? {}, sample)) {
        if (accepts(schema, JSON.parse(text))) continue;
        const answer = await send(operation, textWith(sample, path, text));
        expectProblem(answer, `${operation.id}, ${path.join(".")} = ${text.slice(0, 24)}`, path.join("."));
      }
    }
    await expectUnchanged();
  });

  test.each(["NaN", "Infinity", "undefined", "01", "'a'", "0x10", "1_000", '"\n"'])(
    "%s, which is no JSON",
    async (text) => {
      for (const operation of withBody()) {
        const sample = sampleOf(operation);
        for (const { path } of placesIn(operation.body ?? {}, sample)) {
          expectProblem(await send(operation, textWith(sample, path, text)), operation.id, "body");
        }
      }
      await expectUnchanged();
    },
  );

  test("missing", async () => {
    for (const operation of withBody()) {
      for (const field of operation.body?.required ?? []) {
        const { [field]: _, ...rest } = sampleOf(operation) as Record<string, unknown>;
        expectProblem(await send(operation, JSON.stringify(rest)), `${operation.id}, ${field}`, field);
      }
    }
    await expectUnchanged();
  });

  test("all of them at once: every one is named", async () => {
    for (const operation of withBody()) {
      const fields = Object.keys(operation.body?.properties ?? {});
      const body = Object.fromEntries(fields.map((field) => [field, { wrong: [null] }]));
      const answer = await send(operation, JSON.stringify(body));
      for (const field of fields) {
        const schema = operation.body?.properties?.[field] ?? {};
        if (!accepts(schema, body[field])) expectProblem(answer, operation.id, field);
      }
    }
    await expectUnchanged();
  });
});

describe("names in the path", () => {
  const names = [
    "a%2Fb",
    "%2e%2e%2f",
    "a%00b",
    "%00",
    "a%20b",
    "a%0Ab",
    "%",
    "%zz",
    "%c3%28",
    "%F0%9F%98%80",
    "-a",
    ".a",
    "_a",
    "__proto__",
    "a{b}",
    "a:b",
    "a*",
    "x".repeat(129 + 1_024),
  ];

  test.each(names.map((name) => [name.slice(0, 24), name]))("%s are refused by name", async (_, name) => {
    for (const operation of operations) {
      for (const param of Object.keys(operation.params)) {
        const url = urlOf(operation, { [param]: name });
        const body = operation.body ? JSON.stringify(sampleOf(operation)) : null;
        const answer = await send(operation, body, {}, url);
        if (accepts(operation.params[param] ?? {}, decoded(name))) expect(answer.status).toBeLessThan(500);
        else expectProblem(answer, `${operation.id}, ${param}`, param);
      }
    }
    await expectUnchanged();
  });

  test("with dots are taken as names, never as a way up", async () => {
    for (const operation of operations) {
      if (Object.keys(operation.params).length === 0) continue;
      const url = operation.path.replaceAll(/\{\w+\}/g, "%2e%2e");
      expect([400, 404, 405], operation.id).toContain((await send(operation, null, {}, url)).status);
    }
    await expectUnchanged();
  });

  const decoded = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
});

test("a query that the call does not know is refused by name", async () => {
  for (const operation of operations) {
    const body = operation.body ? JSON.stringify(sampleOf(operation)) : null;
    const answer = await send(operation, body, {}, `${urlOf(operation)}?no_such_thing=1`);
    expectProblem(answer, operation.id, "no_such_thing");
  }
  await expectUnchanged();
});

test("a wrong name of a class or a label is refused with what a name must be", async () => {
  const fleet = "/v1/fleets/some-fleet";
  const policy = { classes: { normal: { ratio: 1 }, "a b": { ratio: 1 } } };
  expect((await world.put(`${fleet}/policy`, policy)).body.errors).toEqual([
    { path: "classes.a b", message: expect.stringContaining("must be 1 to 128 of A-Z") },
  ]);
  const beat = { cluster: "a", pod: "p", labels: { ["k".repeat(64)]: "v" } };
  expect((await world.post(`${fleet}/heartbeat`, beat)).body.errors).toEqual([
    { path: `labels.${"k".repeat(64)}`, message: expect.stringContaining("<=63 characters") },
  ]);
  await expectUnchanged();
});

test("a query with one of its fields given twice is refused by name, as a body is", async () => {
  const fields = { "fleets.pods": "limit", "fleets.status": "held", "operate.scale-fleet": "spare" };
  for (const [id, field] of Object.entries(fields)) {
    const operation = operations.find((one) => one.id === id) as Described;
    for (const values of [
      ["true", "true"],
      ["1", "1"],
      ["1", "x"],
    ]) {
      const query = values.map((value) => `${field}=${value}`).join("&");
      expectProblem(await send(operation, null, {}, `${urlOf(operation)}?${query}`), id, field);
    }
  }
  await expectUnchanged();
});

describe("a body over 1 MiB is refused with 413", () => {
  test("one byte more, although it would be good", async () => {
    for (const operation of withBody()) {
      const text = JSON.stringify(sampleOf(operation));
      const padded = text + " ".repeat(1_048_577 - text.length);
      expectProblem(await send(operation, padded), operation.id, undefined, 413);
    }
    await expectUnchanged();
  });

  test("by its announced length, before a byte of it is read", async () => {
    for (const operation of withBody()) {
      const { body, reads } = endless();
      const answer = await send(operation, body, { "content-length": "1048577" });
      expectProblem(answer, operation.id, undefined, 413);
      expect(reads()).toBeLessThanOrEqual(1);
    }
  });

  test("without reading on, where it would go on for ever", async () => {
    for (const operation of withBody()) {
      const { body, reads, ended } = endless();
      expectProblem(await send(operation, body), operation.id, undefined, 413);
      expect(reads()).toBeLessThanOrEqual(1_048_576 / 65_536 + 3);
      await ended;
    }
    await expectUnchanged();
  });

  test("and one of exactly 1 MiB is read", async () => {
    const other = new World();
    await furnish(other);
    for (const operation of withBody()) {
      const text = JSON.stringify(sampleOf(operation)).padEnd(1_048_576, " ");
      const headers = { authorization: "Bearer admin-key", "content-type": "application/json" };
      const init = { method: operation.method, headers, body: text };
      expectTaken(operation, await other.send(urlOf(operation), init));
    }
  });

  /** Blocks of white space without end; `ended` resolves when the reader gave up. */
  function endless() {
    let reads = 0;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const block = new Uint8Array(65_536).fill(32);
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        reads += 1;
        controller.enqueue(block);
      },
      cancel: () => resolve(),
    });
    return { body, reads: () => reads, ended };
  }
});

describe("ways and places that are not there", () => {
  const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

  test("a method that a path does not have is 405 and Allow names those it has", async () => {
    const byPath = Map.groupBy(operations, ({ path }) => path);
    for (const [path, group] of byPath) {
      const url = urlOf(group[0] as Described);
      const [place = ""] = url.split("?");
      const isThere = (other: string) => RegExp(`^${other.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(place);
      const allowed = operations.filter((one) => isThere(one.path)).map(({ method }) => method);
      expect(allowed).toEqual(expect.arrayContaining(group.map(({ method }) => method)));
      for (const method of methods.filter((one) => !allowed.includes(one))) {
        const answer = await world.call(method, url);
        expectProblem(answer, `${method} ${path}`, undefined, 405);
        const allow = answer.headers.get("allow")?.split(", ") ?? [];
        expect(allow.filter((one) => one !== "HEAD").sort()).toEqual(allowed.sort());
      }
    }
    await expectUnchanged();
  });

  test("the pages without a key answer other methods with 405 too", async () => {
    for (const page of ["/healthz", "/openapi.json", "/docs"]) {
      expect((await world.get(page)).status).toBe(200);
      for (const method of methods.filter((one) => one !== "GET")) {
        const answer = await world.call(method, page);
        expectProblem(answer, `${method} ${page}`, undefined, 405);
        expect(answer.headers.get("allow")).toBe("GET, HEAD");
      }
    }
  });

  test.each([
    "/nowhere",
    "/v1",
    "/v2/fleets",
    "/v1/fleets/",
    "/v1/fleets/f/nothing",
    "/v1/fleets/f/pods/x",
    "//",
    "/%00",
  ])("%s is 404", async (path) => {
    for (const method of methods) expectProblem(await world.call(method, path), method, undefined, 404);
    await expectUnchanged();
  });
});

describe("the trace id", () => {
  test("is the caller's where it is a name, and one of ours where it is not", async () => {
    const ask = async (id: string) => {
      const headers = { authorization: "Bearer admin-key", "x-request-id": id };
      return (await world.send("/v1/fleets/some-fleet", { headers })).headers.get("x-request-id");
    };
    expect(await ask("my-trace.1")).toBe("my-trace.1");
    for (const odd of ["a b", "-a", "<script>", "x".repeat(129)]) {
      expect(await ask(odd)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("is in every answer, good or bad", async () => {
    for (const path of ["/v1/fleets", "/healthz", "/nowhere", "/docs", "/v1/fleets/!"]) {
      expect((await world.get(path)).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

test("no answer of all these was ours to be sorry for", () => {
  expect(world.lines.filter(({ level }) => level === "error")).toEqual([]);
});
