import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { limitOf } from "../support/limit.ts";
import { claimOne, queueOf } from "../support/queue.ts";
import { scrape } from "../support/scrape.ts";
import { World } from "../support/world.ts";

const MINUTE = 60_000;

test("a scrape tells of every fleet its counts, by class its capacity, and what was granted and refused", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  await fleet.beat({ pod: "s", state: "starting" });
  await fleet.beat({ pod: "d", state: "draining", slots: 2 });
  for (let slot = 0; slot < 8; slot++) await lease(fleet);
  await fleet.acquire();
  await fleet.acquire();
  await world.settle();
  const samples = await scrape(world);
  expect(samples.get("fleetgate_up")).toBe(1);
  const of = (name: string, labels = "") => samples.get(`fleetgate_fleet_${name}{fleet="render"${labels}}`);
  expect([of("live"), of("busy"), of("starting"), of("draining")]).toEqual([10, 8, 1, 2]);
  expect([of("capacity", ',class="normal"'), of("capacity", ',class="high"')]).toEqual([8, 10]);
  expect([of("grants_total"), of("denials_total", ',reason="at_capacity"')]).toEqual([0, 0]);

  world.advance(MINUTE);
  await world.app.scheduled();
  await fleet.beat();
  await world.settle();
  const later = await scrape(world);
  expect(later.get('fleetgate_fleet_grants_total{fleet="render"}')).toBe(8);
  expect(later.get('fleetgate_fleet_denials_total{fleet="render",reason="at_capacity"}')).toBe(2);
  expect(later.get('fleetgate_fleet_lapsed_total{fleet="render"}')).toBe(8);
});

test("held times fall into cumulative buckets in seconds", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  const leases = [await lease(fleet), await lease(fleet), await lease(fleet)];
  for (const [at, id] of leases.entries()) {
    world.advance([500, 3_500, 16_000][at] ?? 0);
    await fleet.release(id);
  }
  world.advance(MINUTE);
  await fleet.beat();
  await world.settle();
  const samples = await scrape(world);
  const held = (le: string) => samples.get(`fleetgate_fleet_held_seconds_bucket{fleet="render",le="${le}"}`);
  expect([held("1"), held("5"), held("15"), held("60"), held("14400"), held("+Inf")]).toEqual([
    1, 2, 2, 3, 3, 3,
  ]);
  expect(samples.get('fleetgate_fleet_held_seconds_sum{fleet="render"}')).toBe(24.5);
  expect(samples.get('fleetgate_fleet_held_seconds_count{fleet="render"}')).toBe(3);
});

test("a scrape tells of every queue what waits, what is in flight and how old the oldest is", async () => {
  const world = new World();
  const queue = queueOf(world);
  await queue.configure();
  for (let task = 0; task < 3; task++) await queue.enqueue();
  await queue.enqueue({ delay_ms: 3_600_000 });
  await claimOne(queue);
  await world.settle();
  world.advance(1_500);
  const samples = await scrape(world);
  const of = (name: string) => samples.get(`fleetgate_queue_${name}{queue="infer"}`);
  expect([of("ready"), of("delayed"), of("in_flight"), of("dead")]).toEqual([2, 1, 1, 0]);
  expect(of("oldest_age_seconds")).toBe(1.5);
});

test("a scrape tells of every limit the level of its key default, its capacity and its rate; other keys add no series", async () => {
  const world = new World();
  const limit = limitOf(world, "api");
  await limit.set({ capacity: 100, refill_per_s: 2.5 });
  await limit.take({ cost: 60 });
  for (let tenant = 0; tenant < 20; tenant++) await limit.take({ key: `tenant-${tenant}`, cost: 100 });
  await world.settle();
  world.advance(1_000);
  const samples = await scrape(world);
  const of = (name: string) => samples.get(`fleetgate_limit_${name}{limit="api"}`);
  expect([of("level"), of("capacity"), of("rate_per_second")]).toEqual([42.5, 100, 2.5]);
  expect([...samples.keys()].filter((name) => name.includes("_limit_"))).toHaveLength(3);
});

test("more pods, clusters, leases, tasks and keys of limits make not one series more", async () => {
  const world = new World();
  const [fleet, queue, limit] = [fleetOf(world), queueOf(world), limitOf(world)];
  await queue.configure();
  await limit.set({ capacity: 10, refill_per_s: 1 });
  const work = async (name: string, count: number) => {
    await fleet.batch(
      name,
      Array.from({ length: count }, (_, at) => ({ pod: `${name}-${at}` })),
    );
    for (let at = 0; at < count; at++) {
      await fleet.acquire({ cluster: name, pod: `${name}-${at}` });
      await queue.enqueue();
      await limit.take({ key: `${name}-${at}` });
    }
    await queue.claim();
    await world.settle();
  };
  await work("few", 2);
  const before = [...(await scrape(world)).keys()];
  await work("many", 30);
  const after = [...(await scrape(world)).keys()];
  expect(after).toEqual(before);
  const labels = after.flatMap((name) => [...name.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
  expect([...new Set(labels)].sort()).toEqual(["class", "fleet", "le", "limit", "queue", "reason", "status"]);
});

test("requests, the store's latency and its own figures are told", async () => {
  const world = new World();
  await fleetOf(world).beat();
  await world.get("/v1/nowhere");
  world.advance(MINUTE);
  await fleetOf(world).beat();
  await world.settle();
  const samples = await scrape(world);
  expect(samples.get('fleetgate_requests_total{status="2xx"}')).toBe(2);
  expect(samples.get('fleetgate_requests_total{status="4xx"}')).toBe(1);
  expect(samples.get("fleetgate_store_request_seconds_count")).toBeGreaterThan(2);
  expect(samples.get('fleetgate_store_errors_total{reason="timeout"}')).toBe(0);
  expect(samples.get("fleetgate_store_commands_total")).toBeGreaterThan(10);
  expect(samples.get("fleetgate_store_memory_bytes")).toBeGreaterThan(100_000);
});

test("with the store down a scrape still answers what the isolate knows", async () => {
  const world = new World({ timeoutMs: 300 });
  const { isolate } = world.faulty("quota429");
  await fleetOf(isolate).beat();
  const samples = await scrape(isolate);
  expect(samples.get("fleetgate_up")).toBe(0);
  expect(samples.get('fleetgate_requests_total{status="5xx"}')).toBe(1);
  expect(samples.get('fleetgate_store_errors_total{reason="refused"}')).toBeGreaterThan(0);
  expect([...samples.keys()].filter((name) => /fleet_|queue_|limit_|unread_/.test(name))).toEqual([]);
});

test("no counter falls when the store is back before what was told meanwhile has been written", async () => {
  const world = new World({ timeoutMs: 300 });
  const { isolate } = world.faulty("holdRequest");
  await isolate.get("/v1/nowhere");
  const counts = async () => {
    const samples = await scrape(isolate);
    return [samples.get("fleetgate_up"), samples.get('fleetgate_requests_total{status="4xx"}')];
  };
  expect(await counts()).toEqual([0, 1]);
  expect(await counts()).toEqual([1, 1]);
  isolate.advance(MINUTE);
  await isolate.get("/v1/nowhere");
  await isolate.settle();
  expect(await counts()).toEqual([1, 2]);
  await world.redis("DEL", `${world.prefix}:totals`);
  expect(await counts()).toEqual([1, 0]);
});

test("a scrape under load changes nothing that is stored, and no decision", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const queue = queueOf(world);
  await queue.configure();
  await queue.enqueue();
  await fleet.beatMany(10);
  for (let slot = 0; slot < 7; slot++) await lease(fleet);
  await world.settle();
  const before = await world.snapshot();
  await Promise.all(Array.from({ length: 5 }, () => scrape(world)));
  expect(await world.snapshot()).toBe(before);
  expect((await fleet.acquire()).body).toMatchObject({ granted: true, busy: 8 });
  expect((await fleet.acquire()).body).toMatchObject({ granted: false });
  await scrape(world);
  expect((await fleet.acquire()).body).toMatchObject({ granted: false });
});

test("acquires with scrapes among them grant exactly the capacity, as without", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.policy({ ttl_ms: 3_600_000, lease_ttl_ms: 3_600_000 });
  await fleet.beatMany(20);
  await world.settle();
  const granted = async (request_id: string): Promise<boolean> => {
    const { status, body } = await fleet.acquire({ request_id });
    // A busy machine may not answer in time; the same request is then asked again.
    return status === 503 ? granted(request_id) : body.granted;
  };
  const load = Array.from({ length: 40 }, async (_, at) => {
    if (at % 5 === 0) await scrape(world);
    return granted(`r${at}`);
  });
  expect((await Promise.all(load)).filter(Boolean)).toHaveLength(16);
  expect((await scrape(world)).get('fleetgate_fleet_busy{fleet="render"}')).toBe(16);
});

test("a key sees its own fleets and queues alone, and one without the scope read none", async () => {
  const world = new World();
  await fleetOf(world).beat();
  await fleetOf(world, "elsewhere").beat();
  await queueOf(world).configure();
  await world.settle();
  const names = [...(await scrape(world, "foreign-key")).keys()];
  expect(names.filter((name) => name.includes("render") || name.includes("infer"))).toEqual([]);
  expect(names.some((name) => name.includes('fleet="elsewhere"'))).toBe(true);
  expect((await world.call("GET", "/metrics", undefined, "worker-key")).status).toBe(403);
});

test("a record that cannot be read leaves its fleet out, and only it", async () => {
  const world = new World();
  await fleetOf(world, "one").beat();
  await fleetOf(world, "two").beat();
  await world.settle();
  await world.redis("SET", `${world.prefix}:{fleet:one}:history`, "broken");
  const names = [...(await scrape(world)).keys()];
  expect(names.some((name) => name.includes('fleet="one"'))).toBe(false);
  expect(names.some((name) => name.includes('fleet="two"'))).toBe(true);
});

test("readyz tells whether the store answers, and asks it once a second at most; healthz asks nobody", async () => {
  const world = new World({ timeoutMs: 300 });
  const { isolate, lane } = world.faulty("html502");
  expect(await world.send("/readyz", {})).toMatchObject({ status: 200, body: { ok: true } });
  for (let call = 0; call < 5; call++) {
    const unready = await isolate.send("/readyz", {});
    expect(unready).toMatchObject({ status: 503, body: { code: "store-unavailable" } });
    expect(unready.headers.get("retry-after")).toBe("1");
  }
  expect(await isolate.send("/healthz", {})).toMatchObject({ status: 200 });
  expect(await lane.seen()).toBe(1);
  world.advance(1_000);
  await isolate.send("/readyz", {});
  expect(await lane.seen()).toBe(2);
});

test("readyz asks the store once a second at most, too, when many ask at the same time", async () => {
  const world = new World({ timeoutMs: 300 });
  const { isolate, lane } = world.faulty("html502");
  await isolate.send("/readyz", {});
  world.advance(1_000);
  const answers = await Promise.all(Array.from({ length: 20 }, () => isolate.send("/readyz", {})));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(503));
  expect(await lane.seen()).toBe(2);
});
