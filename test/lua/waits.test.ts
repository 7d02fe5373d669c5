import { expect, test } from "vitest";
import type { Clock } from "../../src/redis/clock.ts";
import { fleetOf, lease } from "../support/fleet.ts";
import { claimOne, openQueue, queueOf } from "../support/queue.ts";
import { World } from "../support/world.ts";

/** A clock with which something happens while a call waits for the first time. */
function meanwhile(happens: () => Promise<unknown>): (time: { now: number }) => Clock {
  let first = true;
  return (time) => ({
    now: async () => time.now,
    local: () => time.now,
    sleep: async (ms) => {
      time.now += ms;
      if (!first) return;
      first = false;
      await happens();
    },
  });
}

const asks = { pod: "waits", request_id: "r1" };

test("an acquire that waits takes nothing once its request was asked again without a wait", async () => {
  const world = new World({
    clock: meanwhile(async () => {
      expect((await fleet.acquire(asks)).body.granted).toBe(false);
      await fleet.release(held);
    }),
  });
  const fleet = fleetOf(world);
  const held = await lease(fleet);
  expect((await fleet.acquire({ ...asks, wait_ms: 20_000 })).body.granted).toBe(false);
  expect(await fleet.status()).toMatchObject({ busy: 0 });
  expect((await fleet.acquire({ ...asks, wait_ms: 20_000 })).body.granted).toBe(true);
});

test("another request of the same pod, and one that waits too, end no wait", async () => {
  const world = new World({
    clock: meanwhile(async () => {
      await fleet.acquire({ ...asks, request_id: "r2" });
      await fleet.acquire({ ...asks, wait_ms: 1 });
      await fleet.release(held);
    }),
  });
  const fleet = fleetOf(world);
  const held = await lease(fleet);
  expect((await fleet.acquire({ ...asks, wait_ms: 20_000 })).body.granted).toBe(true);
});

test("a claim that waits takes no task once its request was asked again without a wait", async () => {
  const { world } = await openQueue();
  const queue = queueOf(
    world.isolate({
      clock: meanwhile(async () => {
        expect((await queue.claim(asks)).body.tasks).toEqual([]);
        await queue.enqueue({ id: "t1" });
      }),
    }),
  );
  expect((await queue.claim({ ...asks, wait_ms: 20_000 })).body.tasks).toEqual([]);
  expect(await claimOne(queue, { pod: "other" })).toMatchObject({ id: "t1", delivery: 1 });
});
