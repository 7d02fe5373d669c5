import { expect, test } from "vitest";
import { fleetOf, lease } from "../support/fleet.ts";
import { limitOf } from "../support/limit.ts";
import { queueOf } from "../support/queue.ts";
import { scrape } from "../support/scrape.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What an operator's reads cost; part of `alone.test.ts`, which has the Redis that can be counted. */
export function operateBudgets(
  newWorld: () => World,
  billed: (world: World, work: () => Promise<unknown>) => Promise<number>,
): void {
  /** A world with so many fleets, a queue in each and as many limits, all at work. */
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
      const limit = limitOf(world, `limit-${at}`);
      await limit.set({ capacity: 10, refill_per_s: 1 });
      await limit.take();
    }
    await world.settle();
    await world.get("/metrics");
    await world.app.scheduled("* * * * *");
    return world;
  }

  test("a scrape costs 5, and 7 more a fleet, 9 a queue and 4 a limit; a minute's samples 2, and 8 and 11", async () => {
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
      [5 + 7 + 9 + 4, 2 + 8 + 11],
      [5 + 3 * (7 + 9 + 4), 2 + 3 * (8 + 11)],
    ]);
  });

  test("however many fleets, queues and limits there are, a scrape reads 100 of each: 2,005 commands at most", async () => {
    const world = newWorld();
    const names = Array.from({ length: 105 }, (_, at) => `n-${at}`);
    for (const kind of ["fleets", "queues", "limits"])
      await world.redis("ZADD", `${world.prefix}:${kind}`, ...names.flatMap((name) => [world.now, name]));
    const queue = (await world.put("/v1/queues/n-0", { fleet: "f" })).body;
    const limit = { algorithm: "token_bucket", capacity: 1, refill_per_s: 1 };
    const version = { kind: "t", capacity: 1, rate: 1, set_at: world.now };
    for (const name of names) {
      await world.redis("SET", `${world.prefix}:{queue:${name}}:config`, `f\n${JSON.stringify(queue)}`);
      const stored = JSON.stringify({ limit, versions: [version] });
      await world.redis("SET", `${world.prefix}:{limit:${name}}:configuration`, stored);
    }
    const samples = await scrape(world);
    for (const kind of ["fleets", "queues", "limits"])
      expect(samples.get(`fleetgate_unread_${kind}`)).toBe(5);
    const cost = await billed(world, () => scrape(world));
    expect(cost).toBeGreaterThan(1_500);
    expect(cost).toBeLessThanOrEqual(5 + 100 * (7 + 9 + 4));
  });

  test("the list of limits costs 1, and 4 more a limit; a take costs what it did, and what registers it comes once an hour", async () => {
    const world = await busyWorld(3);
    const limit = limitOf(world, "limit-0");
    await world.get("/v1/limits");
    expect(await billed(world, () => world.get("/v1/limits"))).toBe(1 + 3 * 4);
    expect(await billed(world, () => limit.take())).toBe(3);
    world.advance(HOUR);
    await limit.take();
    await world.settle();
    world.advance(HOUR);
    // 3 for the configuration, which is remembered for 5 s, 4 for the registry, and 3 for what was counted.
    expect(await billed(world, () => limit.take())).toBe(3 + 3 + 4 + 3);
    expect(await billed(world, () => limit.take())).toBe(3);
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
    // The listener is gone: time passes and pods come and go at the price they always have.
    const fleet = fleetOf(world, "fleet-0");
    await fleet.beat();
    await fleet.beat({ pod: "newcomer" });
    await world.settle();
    const later = async () => {
      for (let second = 0; second < 2; second++) {
        world.advance(1_000);
        await world.settle();
      }
      await fleet.beat();
      await fleet.beat({ pod: "newcomer" });
    };
    expect(await billed(world, later)).toBe(2 + 2);
  });
}
