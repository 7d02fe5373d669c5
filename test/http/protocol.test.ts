import { expect, test } from "vitest";
import protocol from "../../docs/protocol.md?raw";
import { PROBLEMS } from "../../src/problems.ts";
import { operationsOf, type Schema } from "../support/openapi.ts";
import { World } from "../support/world.ts";

const NAMED = /`(GET|PUT|POST|DELETE) (\/[^\s`?]*)/g;

/** The calls that docs/protocol.md names, each with the text under its headline. */
function named(): Map<string, string> {
  const calls = new Map<string, string>();
  for (const section of protocol.split(/^#{2,3} /m)) {
    for (const [, method, path] of `### ${section}`.matchAll(NAMED)) {
      const call = `${method} ${path}`;
      calls.set(call, (calls.get(call) ?? "") + section);
    }
  }
  return calls;
}

test("every call of /openapi.json is named in docs/protocol.md", async () => {
  const calls = named();
  const served = (await operationsOf(new World())).map(({ method, path }) => `${method} ${path}`);
  expect(served.length).toBeGreaterThan(40);
  expect(served.filter((call) => !calls.has(call))).toEqual([]);
});

test("every call that docs/protocol.md names is in /openapi.json, or is a page of its own", async () => {
  const world = new World();
  const served = new Set((await operationsOf(world)).map(({ method, path }) => `${method} ${path}`));
  for (const call of named().keys()) {
    // The dashboard is given to the app from outside; page.test.ts asks for it.
    if (served.has(call) || call === "GET /") continue;
    const [method = "", path = ""] = call.split(" ");
    expect(path, call).not.toContain("{");
    expect((await world.call(method, path)).status, call).toBe(200);
  }
});

test("every field that a call takes stands under its headline", async () => {
  const calls = named();
  const missing: string[] = [];
  for (const { method, path, body } of await operationsOf(new World())) {
    const text = calls.get(`${method} ${path}`) ?? "";
    for (const field of fieldsOf(body)) {
      if (!new RegExp(`\\b${field}\\b`).test(text)) missing.push(`${field} of ${method} ${path}`);
    }
  }
  expect(missing).toEqual([]);
});

test("every problem code stands in the table with its status", () => {
  const rows = protocol.split("\n").filter((line) => /^\|.*\| \d{3} \|/.test(line));
  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    const row = rows.find((line) => line.includes(`\`${code}\``));
    expect(row, code).toContain(`| ${status} |`);
  }
});

function fieldsOf(schema: Schema | undefined): string[] {
  if (!schema) return [];
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const own = Object.entries(schema.properties ?? {});
  return [
    ...own.map(([field]) => field),
    ...[...inner, ...own.map(([, value]) => value), ...(schema.items ? [schema.items] : [])].flatMap(
      fieldsOf,
    ),
  ];
}
