import type { Client } from "../../../src/client/index.ts";
import document from "../../conformance/cases.json" with { type: "json" };
import type { Reply, Seen } from "./faulty-server.ts";

type Json = Record<string, unknown>;

/** One case of test/conformance/cases.json, which says in `about` what its parts mean. */
export interface Case {
  name: string;
  call: string;
  args: {
    fleet?: string;
    queue?: string;
    id?: string;
    body?: Json;
    query?: Json;
    options?: { deadline_ms?: number };
  };
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

/** Makes the call that a case names. */
export async function perform(client: Client, { call, args }: Case): Promise<unknown> {
  if (call === "fleets") return client.fleets();
  if (call === "queues") return client.queues(args.query);
  if (args.queue !== undefined) return performOnQueue(client, call, args);
  const fleet = client.fleet(args.fleet ?? "");
  const options = args.options && { deadlineMs: args.options.deadline_ms };
  // biome-ignore lint/suspicious/noExplicitAny: the file holds bodies of every call
  const given = (args.query ?? args.body) as any;
  if (call === "status") return fleet.status(options);
  if (call === "get_policy") return fleet.getPolicy(options);
  if (call === "put_policy") return fleet.putPolicy(given, options);
  if (call === "pods") return fleet.pods(given, options);
  if (call === "pod_pages") return every(fleet.podPages(given, options));
  if (call === "heartbeat") return fleet.heartbeat(given, options);
  if (call === "heartbeats") return fleet.heartbeats(given, options);
  if (call === "acquire") return fleet.acquire(given, options);
  if (call === "release") return fleet.release(given, options);
  if (call === "leave") return fleet.leave(given, options);
  if (call === "drain") return fleet.drain(given, options);
  if (call === "draining") return fleet.draining(options);
  if (call === "scale") return fleet.scale(given, options);
  if (call === "idle") return fleet.idle(given, options);
  if (call === "history") return fleet.history(given, options);
  throw new Error(`the file names a call this client does not know: ${call}`);
}

async function performOnQueue(client: Client, call: string, args: Case["args"]): Promise<unknown> {
  const queue = client.queue(args.queue ?? "");
  const options = args.options && { deadlineMs: args.options.deadline_ms };
  // biome-ignore lint/suspicious/noExplicitAny: the file holds bodies of every call
  const given = (args.query ?? args.body) as any;
  if (call === "configure") return queue.configure(given, options);
  if (call === "queue_status") return queue.status(options);
  if (call === "enqueue") return queue.enqueue(given, options);
  if (call === "enqueue_batch") return queue.enqueueBatch(given, options);
  if (call === "claim") return queue.claim(given, options);
  if (call === "complete") return queue.complete(given, options);
  if (call === "fail") return queue.fail(given, options);
  if (call === "task") return queue.task(args.id ?? "", options);
  if (call === "cancel") return queue.cancel(args.id ?? "", options);
  if (call === "dead") return queue.dead(given, options);
  if (call === "dead_pages") return every(queue.deadPages(given, options));
  if (call === "redrive") return queue.redrive(given, options);
  if (call === "purge") return queue.purge(given, options);
  if (call === "scale") return queue.scale(given, options);
  if (call === "history") return queue.history(given, options);
  throw new Error(`the file names a call this client does not know: ${call}`);
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

async function every<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const page of pages) read.push(page);
  return read;
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
