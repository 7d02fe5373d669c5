import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

interface Heard {
  event: string;
  id?: string;
  data: Record<string, unknown>;
}

/** A stream of events that is read a chunk at a time: each chunk is a look of the server. */
async function listen(world: World, lastId?: string, fleet = "render") {
  const headers: Record<string, string> = { authorization: "Bearer read-key" };
  if (lastId !== undefined) headers["last-event-id"] = lastId;
  const answer = await world.app.request(`https://fleetgate.test/v1/fleets/${fleet}/events`, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const text = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  return {
    text,
    events: async () => parse((await text()) ?? ""),
    close: () => reader.cancel(),
  };
}

function parse(text: string): Heard[] {
  return text.split("\n\n").flatMap((block) => {
    const fields = Object.fromEntries(
      block.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]),
    );
    if (!fields.event) return [];
    return [{ event: fields.event, ...(fields.id ? { id: fields.id } : {}), data: JSON.parse(fields.data) }];
  });
}

const names = (events: Heard[]) => events.map(({ event, data }) => [event, data.pod]);

test("a stream begins with a snapshot and tells who joins, is replaced, leaves and lapses", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 8_000 });
  await fleet.beat({ pod: "stays", instance: "1" });
  const stream = await listen(world);
  const [snapshot] = await stream.events();
  expect(snapshot).toMatchObject({
    event: "snapshot",
    data: { live: 1, busy: 0, capacity: 1, full: false, pods: 1 },
  });
  expect(snapshot?.id).toBe(String(world.now));

  await fleet.beat({ pod: "new", slots: 2 });
  await fleet.beat({ pod: "silent", state: "starting" });
  const joined = await stream.events();
  expect(names(joined)).toEqual([
    ["joined", "new"],
    ["joined", "silent"],
  ]);
  expect(joined[0]?.data).toEqual({
    at: world.now,
    cluster: "a",
    pod: "new",
    instance: null,
    state: "ready",
    slots: 2,
  });
  expect(joined.map(({ id }) => id)).toEqual([undefined, String(world.now)]);

  await fleet.beat({ pod: "stays", instance: "2" });
  await fleet.beat({ pod: "silent", state: "ready" });
  expect(names(await stream.events())).toEqual([
    ["joined", "silent"],
    ["replaced", "stays"],
  ]);

  await fleet.leave({ pod: "new" });
  world.advance(6_500);
  await fleet.beat({ pod: "stays", instance: "2" });
  expect(names(await stream.events())).toEqual([
    ["left", "new"],
    ["lapsed", "silent"],
  ]);
  await stream.close();
});

test("full, freed, a lapsed lease and a new policy are told", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 600_000 });
  await fleet.beatMany(2);
  const stream = await listen(world);
  await stream.events();
  const held = await lease(fleet, { ttl_ms: 60_000 });
  expect(await stream.events()).toMatchObject([{ event: "full", data: { live: 2, busy: 1, capacity: 1 } }]);
  await fleet.release(held);
  expect(await stream.events()).toMatchObject([{ event: "freed", data: { live: 2, busy: 0, capacity: 1 } }]);
  await fleet.policy({ ttl_ms: 600_000, classes: { normal: { ratio: 1 } } });
  await lease(fleet, { ttl_ms: 1_000, pod: "crash" });
  expect(await stream.events()).toMatchObject([
    { event: "lapsed", data: { pod: "crash", class: "normal" } },
    { event: "policy", data: { policy: { classes: { normal: { ratio: 1 } } } } },
  ]);
});

test("who comes back with the last id hears what happened meanwhile, and a snapshot where nobody remembers", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat();
  const first = await listen(world);
  const [snapshot] = await first.events();
  await first.close();
  world.advance(5_000);
  await fleet.beat({ pod: "meanwhile" });
  const again = await listen(world, snapshot?.id);
  expect(names(await again.events())).toEqual([["joined", "meanwhile"]]);
  const elsewhere = await listen(world.isolate(), snapshot?.id);
  expect(names(await elsewhere.events())).toEqual([["snapshot", undefined]]);
  world.advance(120_000);
  const late = await listen(world, snapshot?.id);
  expect(names(await late.events())).toEqual([["snapshot", undefined]]);
});

test("however many fleets are watched, each stream hears what happens to its own", async () => {
  const world = new World();
  const fleets = Array.from({ length: 24 }, (_, at) => `fleet-${at}`);
  const streams = [];
  for (const fleet of fleets) {
    const stream = await listen(world, undefined, fleet);
    expect(names(await stream.events())).toEqual([["snapshot", undefined]]);
    streams.push(stream);
  }
  for (const [at, stream] of streams.entries()) {
    await fleetOf(world, fleets[at]).beat({ pod: "new" });
    expect(names(await stream.events())).toEqual([["joined", "new"]]);
  }
});

test("a stream that was not read for longer than is remembered goes on with a snapshot", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const stream = await listen(world);
  await stream.events();
  world.advance(120_000);
  await fleet.beat({ pod: "meanwhile" });
  expect(await stream.events()).toMatchObject([{ event: "snapshot", data: { live: 1, pods: 1 } }]);
  await fleet.beat({ pod: "later" });
  expect(names(await stream.events())).toEqual([["joined", "later"]]);
});

test("a quiet stream says so, looks seldom, and ends by itself with an id to come back with", async () => {
  const world = new World();
  await fleetOf(world).beat();
  const started = world.now;
  const stream = await listen(world);
  expect(await stream.text()).toMatch(/^retry: 1000\n\n/);
  const texts = [];
  for (let text = await stream.text(); text !== undefined; text = await stream.text()) texts.push(text);
  expect(texts[0]).toMatch(/^: quiet\nid: \d+\n\n$/);
  expect(texts.at(-1)).toBe(`: quiet\nid: ${world.now}\n\n`);
  expect(world.now - started).toBeGreaterThan(60_000);
  expect(world.now - started).toBeLessThan(120_000);
});

test("listeners of one isolate share their looks, and a stream stays within 50 requests to the store", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(3);
  const { lane, isolate } = world.faulty("none");
  const streams = [await listen(isolate), await listen(isolate), await listen(isolate)];
  expect(await lane.seen()).toBeLessThanOrEqual(2); // The first look for all, sent again where the store lacked the script.
  for (const stream of streams) expect(await stream.events()).toHaveLength(1);
  const [stream] = streams;
  for (let look = 0; look < 19; look++) {
    await fleet.leave({ pod: `worker-${look % 3}` });
    await fleet.beat({ pod: `worker-${(look + 1) % 3}` });
    await stream?.text();
  }
  expect(await stream?.text()).toMatch(/quiet/);
  expect(await stream?.text()).toBeUndefined();
  expect(await lane.seen()).toBeLessThan(50);
});

test("above 5,000 slots only full, freed and policy are told", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 600_000 });
  await fleet.beatMany(5_001);
  const stream = await listen(world);
  expect((await stream.events())[0]?.data).toMatchObject({ live: 5_001, capacity: 4_000, pods: null });
  await fleet.beat({ pod: "one-more" });
  expect(await stream.text()).toMatch(/quiet/);
});

test("with the store down there is a 503 before any event, and a stream under way ends", async () => {
  const world = new World({ timeoutMs: 300 });
  const { isolate } = world.faulty("html502");
  expect((await isolate.get("/v1/fleets/render/events")).status).toBe(503);
});

test("a task's lease that ran out is told, also where another claim has found that before the next look", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const queue = queueOf(world);
  await queue.configure();
  await fleet.policy({ ttl_ms: 86_400_000 });
  await fleet.beatMany(4);
  await fleet.beat({ pod: "drains", state: "draining" });
  await fleet.beat({ pod: "starts", state: "starting" });
  await queue.enqueue();
  await claimOne(queue);
  const stream = await listen(world);
  expect((await stream.events())[0]?.data).toMatchObject({ live: 4, pods: 6 });
  world.advance(26_000);
  expect(await stream.events()).toEqual([]);
  world.advance(2_500);
  await claimOne(queue, { pod: "worker-1" });
  const heard = [...(await stream.events()), ...(await stream.events())];
  expect(names(heard)).toEqual([["lapsed", "worker-0"]]);
});
