import { expect, inject, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { furnish } from "../support/furnish.ts";
import { operationsOf, sampleOf, urlOf } from "../support/openapi.ts";
import { World } from "../support/world.ts";

/** A world whose store ends every script that touches a key it did not declare. */
const watched = () => new World().faulty("strict").isolate;

test("a script that touches an undeclared key is seen here", async () => {
  const { lane } = new World().faulty("strict");
  const run = async (source: string) => {
    const body = JSON.stringify(["EVAL", source, 1, "{a}known"]);
    const headers = { authorization: `Bearer ${inject("restToken")}` };
    return (await fetch(lane.storeUrl, { method: "POST", headers, body })).json();
  };
  expect(await run("return redis.call('GET', KEYS[1])")).toEqual({ result: null });
  const undeclared = { error: expect.stringContaining("undeclared key") };
  expect(await run("return redis.call('GET', '{a}other')")).toEqual(undeclared);
  expect(await run("return redis.pcall('MGET', KEYS[1], '{a}other')")).toEqual(undeclared);
  expect(await run("return redis.call('MSET', KEYS[1], 'x', KEYS[1] .. 'y', 'z')")).toEqual(undeclared);
});

test("no call makes a script touch a key that it did not declare", async () => {
  const world = watched();
  await furnish(world);
  const operations = await operationsOf(world);
  const heard: string[] = [];
  // Again after a minute, when leases, deliveries and delays have run out, and after a day.
  for (const pause of [0, 61_000, 86_400_000]) {
    world.advance(pause);
    for (const operation of operations.filter(({ method }) => method !== "DELETE")) {
      const { status, body } = await world.call(operation.method, urlOf(operation), sampleOf(operation));
      if (status >= 500) heard.push(`${operation.id}: ${body.detail}`);
    }
    await world.settle();
    await world.app.scheduled();
  }
  for (const operation of operations.filter(({ method }) => method === "DELETE")) {
    const { status, body } = await world.call(operation.method, urlOf(operation), sampleOf(operation));
    if (status >= 500) heard.push(`${operation.id}: ${body.detail}`);
  }
  expect(heard).toEqual([]);
});

test("nor do fleets that replace, renew, release and leave by hundreds", async () => {
  const world = watched();
  const fleet = fleetOf(world);
  const pods = (instance: string, more = {}) =>
    Array.from({ length: 200 }, (_, at) => ({ pod: `p${at}`, instance, slots: 2, ...more }));
  await fleet.batch("a", pods("1"));
  const held = await Promise.all(
    Array.from({ length: 20 }, () =>
      fleet.acquire({ pod: "p0", instance: "1", request_id: crypto.randomUUID() }),
    ),
  );
  const leases = held.map(({ body }) => body.lease.id);
  const answers = [
    await fleet.batch("a", pods("1", { leases: leases.slice(0, 5) })),
    await fleet.batch("a", pods("2", { state: "draining" })),
    await fleet.batch("a", pods("1")),
    await fleet.release(...leases.slice(0, 10)),
    await fleet.leave({ pod: "p0", instance: "1" }),
    await fleet.leave({ pod: "p1", instance: "2" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect(await fleet.status()).toMatchObject({ live: 0, busy: 0, draining: 398 });
});
