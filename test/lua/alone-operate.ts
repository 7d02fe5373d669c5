import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { queueOf } from "../support/queue.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;

/** What an operator's reads cost; part of `alone.test.ts`, which has the Redis that can be counted. */
export function operateBudgets(
  newWorld: () => World,
  billed: (world: World, work: () => Promise<unknown>) => Promise<number>,
): void {
  /** A world with so many fleets and a queue in each, all at work. */
  async function busyWorld(count: number): Promise<World> {
    const world = newWorld();
    for (let at = 0; at < count; at++) {
      const fleet = fleetOf(world, `fleet-${at}`);
      const queue = queueOf(world, `queue-${at}`, `fleet-${at}`);
      await fleet.policy({ ttl_ms: 86_400_000 });
      await fleet.beatMany(10);
      await lease(fleet);
      await queue.configure();
      await queue.enqueue();
      await queue.claim();
      await queue.enqueue();
    }
    await world.settle();
    await world.get("/metrics");
    await world.app.scheduled("* * * * *");
    return world;
  }

  test("a scrape costs 5, and 7 more a fleet and 9 a queue; a minute's samples 2, and 8 and 11", async () => {
    const costs = [];
    for (const count of [1, 3]) {
      const world = await busyWorld(count);
      world.advance(1_000);
      costs.push([
        await billed(world, () => world.get("/metrics")),
        await billed(world, () => world.app.scheduled("* * * * *")),
      ]);
    }
    expect(costs).toEqual([
      [4 + 7 + 9, 2 + 8 + 11],
      [4 + 3 * (7 + 9), 2 + 3 * (8 + 11)],
    ]);
  });

  test("what a minute counted costs 3 a fleet and 3 in all, in the background of a later call", async () => {
    const world = await busyWorld(1);
    const fleet = fleetOf(world, "fleet-0");
    await fleet.beat();
    await fleet.acquire();
    world.advance(MINUTE);
    await fleet.beat();
    await fleet.acquire();
    await fleet.acquire();
    world.advance(MINUTE);
    // 3 more since a minute is longer than the isolate remembers the policy.
    expect(await billed(world, () => fleet.beat())).toBe(2 + 3 + 3 + 3);
    world.advance(1_000);
    expect(await billed(world, () => fleet.beat())).toBe(2);
  });

  test("scaling answers cost 3 and 9, idle 6, a history 2, a look of a stream 7, and nobody's listening nothing", async () => {
    const world = await busyWorld(1);
    const get = (path: string) => () => world.get(`/v1/${path}`);
    const listen = async () => {
      const answer = await world.app.request("https://fleetgate.test/v1/fleets/fleet-0/events", {
        headers: { authorization: "Bearer read-key" },
      });
      await answer.body?.cancel();
    };
    for (const path of ["scale/fleets/fleet-0", "scale/queues/queue-0", "fleets/fleet-0/idle"])
      await get(path)();
    await get("fleets/fleet-0/history")();
    await listen();
    world.advance(2_000);
    expect(await billed(world, get("scale/fleets/fleet-0"))).toBe(3);
    expect(await billed(world, get("scale/queues/queue-0"))).toBe(9);
    expect(await billed(world, get("fleets/fleet-0/idle"))).toBe(6);
    expect(await billed(world, get("fleets/fleet-0/history"))).toBe(2);
    expect(await billed(world, listen)).toBe(7);
  });
}
