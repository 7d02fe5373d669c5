import type { Context } from "hono";
import { HonoBase as Hono } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import * as z from "zod/mini";
import { KeysApart, StoreFault, StoreUnavailable } from "../redis/errors.ts";
import { type Auth, refuseForeign } from "./auth.ts";
import { name } from "./fields.ts";
import type { Log } from "./log.ts";
import type { Operation } from "./operation.ts";
import { Problem, problemResponse } from "./problem.ts";
import { type Trips, withTrips } from "./trips.ts";
import { check, readJson, refuseBody } from "./validate.ts";

export interface ServeOptions {
  auth: Auth;
  log: Log;
  /** Hears of every answer, with its status. */
  answered?(status: number): void;
}

interface Trace {
  id: string;
  route: string;
  caller?: string;
  fleet?: string;
  queue?: string;
  trips: Trips;
}

export type Env = { Variables: { trace: Trace } };

/**
 * Serves operations over HTTP: identifies, checks, answers, and turns every error into a problem.
 * `addPages` adds what needs no key.
 */
export function serve(
  operations: readonly Operation[],
  { auth, log, answered }: ServeOptions,
  addPages: (app: Hono<Env>) => void,
): Hono<Env> {
  const app = new Hono<Env>({ strict: true, router: new TrieRouter() });

  app.use(async (context, next) => {
    const started = Date.now();
    const sent = name.safeParse(context.req.header("x-request-id"));
    const id = sent.success ? sent.data : crypto.randomUUID();
    const trace: Trace = { id, route: "none", trips: { count: 0, commands: 0, ms: 0 } };
    context.set("trace", trace);
    await withTrips(trace.trips, next);
    context.header("x-request-id", trace.id);
    context.header("date", new Date().toUTCString());
    const { status } = context.res;
    const level = status >= 500 ? "error" : "info";
    const { route, caller, fleet, queue, trips } = trace;
    const spent = {
      ms: Date.now() - started,
      store_ms: trips.ms,
      trips: trips.count,
      commands: trips.commands,
    };
    log({ level, message: "request", route, status, ...spent, caller, fleet, queue, request_id: id });
    answered?.(status);
  });

  const paths = new Set<string>();
  for (const one of operations) {
    const path = one.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(one.method, path, (context) => answer(one, context, auth));
    paths.add(path);
  }
  // Last, since a path may be that of another call too: tasks/batch, and the task of that id.
  for (const path of paths) app.all(path, () => refuseMethod(methodsOf(operations, path)));

  addPages(app);
  const pages = app.routes.filter(({ method, path }) => method === "GET" && !paths.has(path));
  for (const { path } of pages) app.all(path, () => refuseMethod(["GET"]));
  app.notFound((context) =>
    problemResponse(new Problem("not-found", "no such path; see /openapi.json"), context.get("trace").id),
  );
  app.onError((error, context) => {
    const { id, route } = context.get("trace");
    const problem = problemOf(error);
    if (problem.code === "internal" || problem.code === "store-unavailable") {
      log({ level: "error", message: problem.code, route, cause: causeOf(error), request_id: id });
    }
    return problemResponse(problem, id);
  });
  return app;
}

async function answer(operation: Operation, context: Context<Env>, auth: Auth): Promise<Response> {
  const trace = context.get("trace");
  trace.route = operation.id;
  const caller = await auth.identify(context.req.header("authorization"));
  trace.caller = caller.id;
  if (!caller.may(operation.scopes)) {
    throw new Problem(
      "wrong-scope",
      `this call needs the scope ${[...operation.scopes, "admin"].join(" or ")}`,
    );
  }
  const params = check(operation.params, context.req.param());
  if (typeof params.fleet === "string") trace.fleet = params.fleet;
  if (typeof params.queue === "string") trace.queue = params.queue;
  refuseForeign(caller, params);
  const query = check(operation.query ?? NO_QUERY, context.req.query());
  for (const [field, values] of Object.entries(context.req.queries())) {
    if (values.length > 1) throw Problem.field(field, "is given twice");
  }
  if (!operation.body && operation.method === "POST") await refuseBody(context.req.raw);
  const { text, value } = operation.body ? await readJson(context.req.raw) : { text: "", value: undefined };
  const body = operation.body ? check(operation.body, value) : undefined;
  const header = (name: string) => context.req.header(name);
  if (!caller.maySpeak(body)) throw new Problem("not-yours", "this token speaks for another pod");
  const call = { params, query, body, text, caller, header, signal: context.req.raw.signal };
  const reply = await operation.handle(call as never);
  const content = reply.content ?? reply.json ?? JSON.stringify(reply.body);
  const media = operation.media ?? "application/json";
  return context.body(content, reply.status ?? 200, { "content-type": media, ...reply.headers });
}

function methodsOf(operations: readonly Operation[], path: string): string[] {
  const isOf = (one: Operation) => RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path);
  return operations.filter(isOf).map(({ method }) => method);
}

function refuseMethod(methods: readonly string[]): never {
  const allow = methods.includes("GET") ? [...methods, "HEAD"] : methods;
  const headers = { allow: allow.join(", ") };
  throw new Problem("method-not-allowed", `use ${allow.join(" or ")}`, { headers });
}

const NO_QUERY = z.strictObject({});

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailable) {
    return new Problem("store-unavailable", "the store did not answer; nothing was granted, try again", {
      headers: { "retry-after": "1" },
    });
  }
  if (error instanceof KeysApart) {
    return new Problem(
      "spans-shards",
      "these records live on different shards of the store; nothing was done",
    );
  }
  if (error instanceof StoreFault) return new Problem("internal", error.message);
  return new Problem("internal", "an unexpected error; its request id is in the log");
}

/** For the log: the kind of the error, with its text only where we wrote it. */
function causeOf(error: unknown): string {
  if (error instanceof StoreUnavailable || error instanceof StoreFault) return error.message;
  if (!(error instanceof Error)) return "unknown";
  return `${error.name} ${error.stack?.split("\n")[1]?.trim() ?? ""}`;
}
