import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient, type FleetEvent, ProblemError, UnavailableError } from "../../src/client/index.ts";
import { startFaultyServer, unavailable } from "./support/faulty-server.ts";
import { type Live, startLive } from "./support/live.ts";

let live: Live;

beforeAll(async () => {
  live = await startLive();
}, 60_000);

afterAll(() => live[Symbol.asyncDispose]());

const who = (pod: string) => ({ cluster: "eu", pod });

it("the client reads what to scale by, who is idle, who drains, and the histories", async () => {
  const fleet = live.fleet("render");
  const queue = live.client.queue("infer");
  await queue.configure({ fleet: "render" });
  for (const pod of ["a", "b"]) await fleet.heartbeat(who(pod));
  await fleet.acquire(who("a"));
  await queue.enqueue({ payload: 1 });
  expect(await fleet.scale()).toEqual({ live: 2, busy: 1, capacity: 1, wanted: 2 });
  expect(await fleet.scale({ class: "high", spare: 3 })).toMatchObject({ capacity: 2, wanted: 4 });
  expect(await queue.scale()).toEqual({ backlog: 1, in_flight: 0, wanted: 2 });
  expect((await fleet.idle({ limit: 1 })).pods).toMatchObject([{ cluster: "eu", pod: "b" }]);
  await fleet.drain({ ...who("b"), drain: true });
  expect(await fleet.draining()).toEqual({ draining: [who("b")] });
  expect(await fleet.history({ span: "24h" })).toMatchObject({ span: "24h", step_ms: 60_000 });
  expect(await queue.history()).toMatchObject({ span: "1h", step_ms: 60_000 });
  expect((await live.client.queues({ fleet: "render" })).queues).toMatchObject([
    { queue: "infer", ready: 1 },
  ]);
  await expect(fleet.scale({ class: "none" })).rejects.toThrow(ProblemError);
});

it("events tell what happens to a fleet, from a snapshot on", async () => {
  const fleet = live.fleet("watched");
  const told: FleetEvent[] = [];
  for await (const event of fleet.events({ signal: AbortSignal.timeout(30_000) })) {
    told.push(event);
    if (event.event === "snapshot") await fleet.heartbeat({ ...who("a"), instance: "1" });
    if (event.event === "joined") await fleet.acquire({ ...who("a"), instance: "1" });
    if (event.event === "full") await fleet.leave({ ...who("a"), instance: "1" });
    if (event.event === "left") break;
  }
  const pod = { ...who("a"), instance: "1", state: "ready", slots: 1 };
  const at = expect.any(Number);
  expect(told.filter(({ event }) => event !== "freed")).toEqual([
    { event: "snapshot", at, live: 0, busy: 0, capacity: 1, full: false, pods: 0 },
    { event: "joined", at, ...pod },
    { event: "full", at, live: 1, busy: 1, capacity: 1 },
    { event: "left", at, ...pod },
  ]);
});

const stream = (text: string) => ({ headers: { "content-type": "text/event-stream" }, text });
const full = (at: number) => `event: full\ndata: {"at":${at}}\n\n`;

it("events come back with the last id after the end of a stream, a break and an outage, and none is told twice", async () => {
  const replies = [
    stream(`retry: 10\n\nid: 1\n${full(1)}`),
    stream(`: quiet\nid: 2\n\n${full(3)}${full(4).slice(0, 9)}`),
    unavailable(),
    stream(`${full(3)}id: 4\nevent: freed\ndata: {"at":4}\n\n`),
  ];
  await using server = await startFaultyServer((_, number) => replies[number] ?? { status: 401 });
  const told: FleetEvent[] = [];
  const listening = (async () => {
    for await (const event of createClient({ url: server.url, key: "fg_k" }).fleet("f").events()) {
      told.push(event);
    }
  })();
  // A refusal is no outage: it ends the loop.
  await expect(listening).rejects.toThrow(ProblemError);
  expect(told).toEqual([
    { event: "full", at: 1 },
    { event: "full", at: 3 },
    { event: "freed", at: 4 },
  ]);
  expect(server.seen.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1", "2", "2", "4"]);
  expect(server.seen[0]?.headers).toMatchObject({
    accept: "text/event-stream",
    authorization: "Bearer fg_k",
  });
});

it("events end by the caller's signal, with its reason, and hang up", async () => {
  await using server = await startFaultyServer(() => ({ fault: "hang" }));
  const ends = new AbortController();
  const events = createClient({ url: server.url, key: "fg_k" }).fleet("f").events({ signal: ends.signal });
  const next = events.next();
  setTimeout(() => ends.abort(new Error("enough")), 50);
  await expect(next).rejects.toThrow("enough");
});

it("events give up after a time out of reach, if one is given", async () => {
  await using server = await startFaultyServer(() => unavailable());
  const events = createClient({ url: server.url, key: "fg_k" }).fleet("f").events({ deadlineMs: 300 });
  const error = await events.next().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error).toMatchObject({ detail: "The store did not answer in time." });
});

it("events take a stream that arrives in the middle of a line and of a letter", async () => {
  const bytes = new TextEncoder().encode(`id: 1\nevent: joined\ndata: {"at":1,"pod":"é😀"}\n\n`);
  let hungUp = false;
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
    },
    cancel() {
      hungUp = true;
    },
  });
  const fetch = () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const events = createClient({ url: "http://x", key: "fg_k", fetch }).fleet("f").events();
  expect((await events.next()).value).toEqual({ event: "joined", at: 1, pod: "é😀" });
  // Leaving the loop hangs up: this body would never end.
  await events.return();
  expect(hungUp).toBe(true);
});
