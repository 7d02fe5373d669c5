import { expect, test } from "vitest";
import { makeLog } from "../../src/http/log.ts";
import { noteTrip, type Trips, withTrips } from "../../src/http/trips.ts";
import { fleetOf } from "../support/fleet.ts";
import { queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

test("each request is one line: what was asked, how it went, how long it and the store took", async () => {
  const world = new World();
  await fleetOf(world).beat();
  await world.get("/v1/queues/nobody");
  await world.get("/v1/nowhere");
  await world.settle();
  const [beat, queue, nowhere, ...rest] = world.lines;
  expect(rest).toEqual([]);
  expect(beat).toMatchObject({
    level: "info",
    message: "request",
    route: "fleets.heartbeat",
    status: 200,
    fleet: "render",
    caller: "admin",
    trips: 2,
    commands: 2,
  });
  expect(beat?.ms).toBeGreaterThanOrEqual(0);
  expect(beat?.store_ms).toBeGreaterThanOrEqual(0);
  expect(beat?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(queue).toMatchObject({ route: "queues.status", status: 404, queue: "nobody" });
  expect(nowhere).toMatchObject({ route: "none", status: 404, trips: 0, commands: 0 });
});

test("a list counts the commands that it sends, however few its trips", async () => {
  const world = new World();
  for (const name of ["one", "two", "three"]) await fleetOf(world, name).beat();
  await world.settle();
  await world.get("/v1/fleets");
  expect(world.lines.at(-1)).toMatchObject({ route: "fleets.list", trips: 2, commands: 1 + 3 * 3 });
});

test("no key, payload, result, label or lease stands in a line", async () => {
  const world = new World();
  const queue = queueOf(world);
  await queue.configure();
  await fleetOf(world).beat({ labels: { gpu: "secret-label" } });
  await queue.enqueue({ payload: { card: "secret-payload" } });
  const { body } = await queue.claim({ pod: "secret-pod" });
  await queue.complete(body.tasks[0].lease.id, { result: "secret-result" });
  await world.call("POST", "/v1/fleets/render/heartbeat", { cluster: "secret cluster" }, "secret-key");
  const text = JSON.stringify(world.lines);
  expect(world.lines.length).toBeGreaterThan(5);
  expect(text).not.toMatch(/secret|admin-key|t\/a\//);
});

test("requests that run at once are each charged their own trips", async () => {
  const work = async (times: number) => {
    const trips: Trips = { count: 0, commands: 0, ms: 0 };
    await withTrips(trips, async () => {
      for (let trip = 0; trip < times; trip++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        noteTrip({ ms: times, commands: 2 });
      }
    });
    return trips;
  };
  noteTrip({ ms: 1, commands: 1 });
  expect(await Promise.all([work(1), work(3)])).toEqual([
    { count: 1, commands: 2, ms: 1 },
    { count: 3, commands: 6, ms: 9 },
  ]);
});

test("LOG_LEVEL leaves out what is below it", () => {
  const written: string[] = [];
  const log = makeLog("warn", (text) => written.push(text));
  for (const level of ["debug", "info", "warn", "error"] as const) log({ level, message: "m" });
  expect(written).toEqual(['{"level":"warn","message":"m"}', '{"level":"error","message":"m"}']);
});
