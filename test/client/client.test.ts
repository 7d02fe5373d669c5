import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient, FleetgateError, ProblemError, UnavailableError } from "../../src/client/index.ts";
import { startFaultyServer, unavailable } from "./support/faulty-server.ts";
import { until } from "./support/until.ts";

const KEY = "fg_very-secret-key";
const who = { cluster: "eu", pod: "w-0" };
const thrown = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("createClient", () => {
  it.each([
    ["a url of another protocol", { url: "ftp://x", key: KEY }],
    ["a url with a password", { url: `http://u:${KEY}@x`, key: KEY }],
    ["a key with a line break", { url: "http://x", key: `${KEY}\n` }],
    ["an empty key", { url: "http://x", key: "" }],
    ["a negative timeout", { url: "http://x", key: KEY, timeoutMs: -1 }],
    ["a deadline that is no number", { url: "http://x", key: KEY, deadlineMs: Number.NaN }],
  ])("refuses %s with a TypeError that does not repeat the key", (_, options) => {
    const make = () => createClient(options);
    expect(make).toThrow(TypeError);
    try {
      make();
    } catch (error) {
      expect(inspect(error)).not.toContain(KEY);
    }
  });

  it("takes any fetch, for instance an app's own, and a base path", async () => {
    const urls: string[] = [];
    const fetch = (url: string) => {
      urls.push(url);
      return Response.json({ fleets: [] });
    };
    const client = createClient({ url: "https://gate.test/base/", key: KEY, fetch });
    expect(await client.fleets()).toEqual({ fleets: [] });
    expect(urls).toEqual(["https://gate.test/base/v1/fleets"]);
  });

  it("refuses a key that is missing, or that no header can hold", () => {
    for (const key of [undefined, "", "two words"])
      expect(() => createClient({ url: "https://gate.test", key: key as string })).toThrow(TypeError);
  });

  it("lets no key out through an error, even of a fetch that repeats the request", async () => {
    const fetch = (_: string, init: RequestInit): never => {
      throw Object.assign(new Error(`cannot send ${JSON.stringify(init.headers)}`), { init });
    };
    const client = createClient({ url: "https://gate.test", key: KEY, fetch });
    const error = await thrown(client.fleet("f").heartbeat(who, { deadlineMs: 100 }));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(inspect(error, { depth: 9, showHidden: true })).toContain("cannot send");
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(KEY);
  });
});

describe("a call", () => {
  it("passes the reason of the caller's signal through, in the middle of a try and of a pause", async () => {
    for (const reply of [{ fault: "hang" } as const, unavailable(30)]) {
      await using server = await startFaultyServer(() => reply);
      const client = createClient({ url: server.url, key: KEY, deadlineMs: 60_000 });
      const ends = new AbortController();
      const call = thrown(client.fleet("f").leave(who, { signal: ends.signal }));
      await until("it was sent", () => server.seen.length === 1);
      ends.abort(new Error("enough"));
      expect(await call).toMatchObject({ message: "enough" });
      expect(server.seen).toHaveLength(1);
    }
  });

  it("is bounded by its own deadline and its own choice not to be retried", async () => {
    await using server = await startFaultyServer(() => unavailable());
    const fleet = createClient({ url: server.url, key: KEY }).fleet("f");
    const start = performance.now();
    expect(await thrown(fleet.status({ deadlineMs: 400 }))).toBeInstanceOf(UnavailableError);
    expect(performance.now() - start).toBeLessThan(800);
    // Apart, since a try that the deadline cut off may still be on its way to the first.
    await using other = await startFaultyServer(() => unavailable());
    const error = await thrown(
      createClient({ url: other.url, key: KEY }).fleet("f").status({ retry: false }),
    );
    expect(error).toMatchObject({ code: "unavailable", attempts: 1, traceId: undefined });
    expect(other.seen).toHaveLength(1);
  });

  it("throws errors of one tree, told apart by class and by code", async () => {
    await using server = await startFaultyServer(() => ({ status: 404, text: "no" }));
    const error = await thrown(createClient({ url: server.url, key: KEY }).fleets());
    expect(error).toBeInstanceOf(FleetgateError);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ name: "ProblemError", code: "unrecognised", status: 404, errors: [] });
  });

  it("throws at once what cannot be sent, and sends nothing", async () => {
    await using server = await startFaultyServer(() => unavailable());
    const queue = createClient({ url: server.url, key: KEY }).queue("q");
    const circle: unknown[] = [];
    circle.push(circle);
    for (const payload of [1n, circle])
      expect(await thrown(queue.enqueue({ payload }))).toBeInstanceOf(TypeError);
    expect(server.seen).toEqual([]);
  });

  it("repeats what it was given, whatever the caller does with that meanwhile", async () => {
    await using server = await startFaultyServer((_, n) =>
      n === 0 ? unavailable() : { status: 201, body: { id: "t", state: "ready", duplicate: false } },
    );
    const payload = { frame: 1 };
    const call = createClient({ url: server.url, key: KEY }).queue("q").enqueue({ payload });
    payload.frame = 2;
    await call;
    expect(server.seen.map(({ body }) => body.payload.frame)).toEqual([1, 1]);
  });

  it.each([
    ["a message that is no text", Object.assign(new Error(), { message: 5 })],
    ["a code that is no text", new Error("no", { cause: { code: Symbol("gone") } })],
    ["no error at all", undefined],
  ])("takes a fetch that throws %s for one that failed", async (_, error) => {
    const fetch = () => Promise.reject(error);
    const client = createClient({ url: "https://gate.test", key: KEY, fetch, deadlineMs: 100 });
    expect(await thrown(client.fleets())).toBeInstanceOf(UnavailableError);
  });

  it("spreads callers that were refused together, and never sooner than the hint", async () => {
    const first = new Map<string, number>();
    const waits: number[] = [];
    await using server = await startFaultyServer(({ body, at }) => {
      const before = first.get(body.request_id);
      if (before !== undefined) {
        waits.push(at - before);
        return { body: { granted: false, reason: "at_capacity", retry_after_ms: 1 } };
      }
      first.set(body.request_id, at);
      return unavailable(1);
    });
    const fleet = createClient({ url: server.url, key: KEY }).fleet("f");
    await Promise.all(Array.from({ length: 100 }, () => fleet.acquire(who)));
    expect(waits).toHaveLength(100);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000 - 20);
    const buckets = new Map<number, number>();
    for (const wait of waits) {
      const bucket = Math.floor(wait / 100);
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
    }
    expect(buckets.size).toBeGreaterThanOrEqual(5);
  });
});
