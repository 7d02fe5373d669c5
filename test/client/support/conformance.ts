import document from "../../conformance/cases.json" with { type: "json" };
import type { Args } from "./conformance-calls.ts";
import type { Reply, Seen } from "./faulty-server.ts";

type Json = Record<string, unknown>;

/** One case of test/conformance/cases.json, which says in `about` what its parts mean. */
export interface Case {
  name: string;
  call: string;
  args: Args;
  respond: (string | (Reply & { use?: string; delay_ms?: number }))[];
  expect: {
    requests: (ExpectedRequest & { times?: number })[] | null;
    result?: unknown;
    error?: Json & { kind: "problem" | "unavailable" | "argument" };
    min_gaps_ms?: number[];
    max_total_ms?: number;
  };
}

/** What one request must have been. */
export interface ExpectedRequest {
  method: string;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string | null>;
  body?: unknown;
}

/** The file that every client runs. */
export const conformance = document as unknown as {
  client: { key: string; timeout_ms: number; deadline_ms: number };
  replies: Record<string, Reply>;
  cases: Case[];
};

/** The n-th reply of a case, with names looked up. */
export function replyOf(one: Case, number: number): Reply & { delay_ms?: number } {
  const given = one.respond[number];
  if (given === undefined) return { status: 500, text: "the case has no more replies" };
  if (typeof given === "string") return named(given);
  const { use, ...parts } = given;
  return use === undefined ? parts : { ...named(use), ...parts };
}

/** What the call must give. */
export function resultOf({ expect }: Case): unknown {
  return typeof expect.result === "string" ? named(expect.result).body : expect.result;
}

/** The parts of a seen request that a case speaks of, with bound text put in the place of its `$bind`. */
export function asExpected(
  seen: Seen,
  expected: ExpectedRequest,
  bound: Map<string, string>,
): ExpectedRequest {
  const url = new URL(seen.path, "http://local");
  const headers = Object.keys(expected.headers ?? {}).map((name) => [name, seen.headers[name] ?? null]);
  return {
    method: seen.method,
    path: url.pathname,
    ...((expected.query ?? url.search !== "") && { query: Object.fromEntries(url.searchParams) }),
    ...(expected.headers && { headers: Object.fromEntries(headers) }),
    ...(seen.body !== undefined && { body: unbound(seen.body, expected.body, bound) }),
  };
}

function unbound(seen: unknown, expected: unknown, bound: Map<string, string>): unknown {
  if (isObject(expected) && typeof expected.$bind === "string" && typeof seen === "string") {
    const before = bound.get(expected.$bind) ?? seen;
    bound.set(expected.$bind, before);
    const fits = seen === before && new RegExp(String(expected.pattern ?? "")).test(seen);
    return fits ? expected : seen;
  }
  if (!isObject(seen) || !isObject(expected)) return seen;
  return Object.fromEntries(
    Object.entries(seen).map(([name, value]) => [name, unbound(value, expected[name], bound)]),
  );
}

function named(name: string): Reply {
  const reply = conformance.replies[name];
  if (reply === undefined) throw new Error(`the file has no reply named ${name}`);
  return reply;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
