import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

test("renewing and releasing race 500 times in both orders: released once, never an error, never alive again", async () => {
  const world = new World();
  const [one, other] = [fleetOf(world), fleetOf(world.isolate())];
  await one.beat({ slots: 20 });
  const race = async (turn: number) => {
    // With a name, so that the store is asked: this isolate does not see the releases.
    const held = await lease(one, { class: "high", request_id: `r${turn}` });
    const renew = () => one.beat({ leases: [held] });
    const release = () => other.release(held);
    const calls = turn % 2 ? [renew(), release()] : [release(), renew()];
    const heard = await Promise.all(calls);
    expect(heard.map(({ status }) => status)).toEqual([200, 200]);
    const [renewed, released] = turn % 2 ? heard : heard.reverse();
    expect(released?.body).toEqual({ released: [held], missing: [] });
    expect([[], [held]]).toContainEqual(renewed?.body.lost);
    expect((await one.beat({ leases: [held] })).body.lost).toEqual([held]);
  };
  for (let turn = 0; turn < 500; turn += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, more) => race(turn + more)));
    world.advance(1);
  }
  expect(await one.status()).toMatchObject({ live: 20, busy: 0 });
}, 20_000);

test("one lease released by many at once is reported released once", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const isolates = Array.from({ length: 4 }, () => fleetOf(world.isolate()));
  for (let turn = 0; turn < 20; turn++) {
    const held = await lease(fleet, { request_id: `r${turn}` });
    const heard = await Promise.all(isolates.flatMap((one) => [one.release(held), one.release(held, "x")]));
    expect(heard.flatMap(({ body }) => body.released)).toEqual([held]);
  }
});

test("one request_id sent by many at once takes one slot", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(20);
  const isolates = Array.from({ length: 4 }, () => fleetOf(world.isolate()));
  for (let turn = 0; turn < 10; turn++) {
    const calls = isolates.flatMap((one) => [0, 1, 2].map(() => lease(one, { request_id: `r${turn}` })));
    expect(new Set(await Promise.all(calls)).size).toBe(1);
    expect((await fleet.status()).busy).toBe(turn + 1);
  }
});

test("two instances that start at once through many isolates end as one pod, the newer", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  const isolates = Array.from({ length: 4 }, () => fleetOf(world.isolate()));
  for (let turn = 0; turn < 20; turn++) {
    const pod = `p${turn}`;
    const calls = isolates.flatMap((one, at) => [
      one.beat({ pod, instance: at % 2 ? "1" : "2", slots: 2 }),
      one.batch("a", [{ pod, instance: at % 2 ? "2" : "1", slots: 2 }]),
    ]);
    for (const { status } of await Promise.all(calls)) expect([200, 409]).toContain(status);
    expect((await fleet.status()).live).toBe(2 * (turn + 1));
    expect((await fleet.beat({ pod, instance: "1" })).status).toBe(409);
  }
});

test("in five rounds of 300 acquires through several isolates 8 normal and 10 in all are granted", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(10);
  const isolates = Array.from({ length: 6 }, () => fleetOf(world.isolate()));
  for (let round = 0; round < 5; round++) {
    const heard = await Promise.all(
      Array.from({ length: 300 }, (_, call) =>
        isolates[call % 6]?.acquire({ class: call % 3 === 0 ? "high" : "normal" }),
      ),
    );
    const granted = heard.filter((one) => one?.body.granted).map((one) => one?.body.lease);
    expect(heard.filter((one) => one?.status !== 200)).toEqual([]);
    expect(granted).toHaveLength(10);
    expect(granted.filter((one) => one.class === "normal").length).toBeLessThanOrEqual(8);
    await fleet.release(...granted.map(({ id }) => id));
    world.advance(200);
  }
}, 20_000);
