import { describe, expect, test } from "vitest";
import { makeDenials } from "../../src/leases/denials.ts";
import { fleetOf, lease, type TestFleet } from "../support/fleet.ts";
import { World } from "../support/world.ts";

/** A full fleet of one slot; `here` has just been refused, `there` is another isolate that can free the slot. */
async function refused() {
  const world = new World();
  const [here, there] = [fleetOf(world), fleetOf(world.isolate())];
  const held = await lease(there, { request_id: "holder" });
  const { body } = await here.acquire();
  expect(body).toMatchObject({ granted: false, reason: "at_capacity", live: 0, busy: 1, capacity: 1 });
  return { world, here, there, held };
}

const granted = async (fleet: TestFleet, fields = {}) => (await fleet.acquire(fields)).body.granted;

describe("a denial is remembered", () => {
  test("for 200 ms, with its counts, and then asked anew", async () => {
    const { world, here, there, held } = await refused();
    await there.release(held);
    world.advance(199);
    const { body } = await here.acquire({ attempt: 3 });
    expect(body).toMatchObject({ granted: false, reason: "at_capacity", live: 0, busy: 1, capacity: 1 });
    expect(body.retry_after_ms).toBeGreaterThanOrEqual(2_000);
    expect(body.retry_after_ms).toBeLessThanOrEqual(2_500);
    world.advance(1);
    expect(await granted(here)).toBe(true);
  });

  test("and is not made longer by being answered from memory", async () => {
    const { world, here, there, held } = await refused();
    await there.release(held);
    for (let poll = 0; poll < 19; poll++) {
      world.advance(10);
      expect(await granted(here)).toBe(false);
    }
    world.advance(10);
    expect(await granted(here)).toBe(true);
  });

  test("by the isolate that heard it and no other", async () => {
    const { world, there, held } = await refused();
    await there.release(held);
    expect(await granted(fleetOf(world.isolate()))).toBe(true);
  });

  test("for its class and its fleet, not for others", async () => {
    const { world, here, there } = await refused();
    await there.beatMany(2, "b");
    expect(await granted(here)).toBe(false);
    expect(await granted(here, { class: "high" })).toBe(true);
    expect(await granted(fleetOf(world, "other"))).toBe(true);
  });

  test("but never a grant: each is asked of the store", async () => {
    const fleet = fleetOf(new World());
    expect(await granted(fleet)).toBe(true);
    expect(await granted(fleet)).toBe(false);
  });
});

describe("the memory ends at once with a change that the isolate itself sees:", () => {
  test.each<[string, (fleet: TestFleet, held: string) => Promise<unknown>]>([
    ["a release", (fleet, held) => fleet.release(held)],
    ["a leave", (fleet) => fleet.leave()],
    ["a join", (fleet) => fleet.beatMany(3, "b")],
    ["a pod that gets more slots", (fleet) => fleet.beat({ cluster: "c", slots: 3 })],
    ["a pod that is ready now", (fleet) => fleet.beat({ cluster: "s", slots: 3 })],
    ["a policy", (fleet) => fleet.policy({ classes: { normal: { ratio: 1 }, high: { ratio: 1 } } })],
  ])("%s", async (_, change) => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beat({ cluster: "c", slots: 1 });
    await fleet.beat({ cluster: "s", slots: 3, state: "starting" });
    await fleet.beat({ cluster: "d" });
    const held = await lease(fleet);
    expect(await granted(fleet)).toBe(false);
    await change(fleet, held);
    expect(await granted(fleet)).toBe(true);
  });

  test("also where the change came while the denial was on its way", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    const held = await lease(fleet);
    const { lane, isolate } = world.faulty("holdAnswer", "members");
    const slow = fleetOf(isolate);
    const denial = slow.acquire();
    await lane.held();
    expect((await slow.release(held)).body.released).toEqual([held]);
    await lane.letGo();
    expect((await denial).body.granted).toBe(false);
    expect(await granted(slow)).toBe(true);
  });

  test("but not with a change of another fleet", async () => {
    const { world, here, there, held } = await refused();
    await there.release(held);
    await fleetOf(here.world, "other").beat();
    expect(await granted(here)).toBe(false);
    world.advance(200);
    expect(await granted(here)).toBe(true);
  });
});

describe("a grant that fills its class", () => {
  test("is remembered as the denial of the next, for 200 ms and with its counts", async () => {
    const world = new World();
    const [here, there] = [fleetOf(world), fleetOf(world.isolate())];
    const held = await lease(here);
    await there.release(held);
    world.advance(199);
    expect((await here.acquire()).body).toMatchObject({ granted: false, live: 0, busy: 1, capacity: 1 });
    world.advance(1);
    expect(await granted(here)).toBe(true);
  });

  test("tells nothing where it leaves room, or of another class", async () => {
    const fleet = fleetOf(new World());
    await fleet.beatMany(3);
    expect([await granted(fleet), await granted(fleet)]).toEqual([true, true]);
    expect(await granted(fleet, { class: "high" })).toBe(true);
  });

  test("is asked of the store again by its own request_id, and hears its lease", async () => {
    const fleet = fleetOf(new World());
    const held = await lease(fleet, { request_id: "r1" });
    expect(await granted(fleet)).toBe(false);
    expect(await lease(fleet, { request_id: "r1" })).toBe(held);
  });

  test("is not remembered as full where a slot was freed while its answer was on its way", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beatMany(3);
    const held = await lease(fleet);
    const { lane, isolate } = world.faulty("holdAnswer", "members");
    const slow = fleetOf(isolate);
    const grant = slow.acquire();
    await lane.held();
    expect((await slow.release(held)).body.released).toEqual([held]);
    await lane.letGo();
    expect((await grant).body).toMatchObject({ granted: true, busy: 2, capacity: 2 });
    expect(await granted(slow)).toBe(true);
  });
});

describe("a request_id", () => {
  test("that this isolate never heard denied is asked of the store, since it may hold a lease", async () => {
    const { here, there, held } = await refused();
    expect((await here.acquire({ request_id: "holder" })).body.lease.id).toBe(held);
    await there.release(held);
    expect(await granted(here)).toBe(false);
    expect(await granted(here, { request_id: "never-heard" })).toBe(true);
  });

  test("that this isolate heard denied is answered from memory while a denial is remembered", async () => {
    const { world, here, there, held } = await refused();
    expect(await granted(here, { request_id: "r1" })).toBe(false);
    await there.release(held);
    world.advance(199);
    expect(await granted(here, { request_id: "r1" })).toBe(false);
    world.advance(1);
    expect(await granted(here, { request_id: "r1" })).toBe(true);
  });

  test("is known as denied for 10 s and no longer", async () => {
    const { world, here, there, held } = await refused();
    expect(await granted(here, { request_id: "r1" })).toBe(false);
    world.advance(9_999);
    expect(await granted(here)).toBe(false);
    await there.release(held);
    expect(await granted(here, { request_id: "r1" })).toBe(false);
    world.advance(1);
    expect(await granted(here, { request_id: "r1" })).toBe(true);
  });

  test("denied for one pod says nothing of the same request_id of another", async () => {
    const { here, there, held } = await refused();
    expect(await granted(here, { request_id: "r1" })).toBe(false);
    await there.release(held);
    expect(await granted(here, { request_id: "r1", pod: "other" })).toBe(true);
  });

  test("hears the lease whose answer was lost, though it was denied just before", async () => {
    const { world, here, there, held } = await refused();
    expect(await granted(here, { request_id: "r1" })).toBe(false);
    await there.release(held);
    world.advance(200);
    const unheard = await lease(here, { request_id: "r1" });
    expect(await granted(here, { request_id: "r2" })).toBe(false);
    expect(await lease(here, { request_id: "r1" })).toBe(unheard);
  });

  test("whose answer was lost is asked of the store again, whatever was heard before or comes late", async () => {
    const denials = makeDenials({ local: () => 0, now: async () => 0, sleep: async () => {} });
    const ask = (answer: () => Promise<string>) =>
      denials.asking("f", { request: "r1" }, answer, (heard) => heard === "denied");
    const known = () => denials.recall("f", "normal", { request: "r1" }) !== undefined;
    denials.remember("f", "normal", {}, denials.epoch("f", "normal"));
    expect(known()).toBe(false);
    await ask(async () => "denied");
    expect(known()).toBe(true);
    // As when the runtime drops a call whose caller hung up.
    void ask(() => new Promise(() => {}));
    expect(known()).toBe(false);
    await ask(async () => "denied");
    expect(known()).toBe(true);
    await expect(ask(() => Promise.reject(new Error("no answer")))).rejects.toThrow("no answer");
    expect(known()).toBe(false);
    await ask(async () => "denied");
    expect(known()).toBe(false);
  });

  test("that waits is told no from memory only while it is known as denied, or was denied in the same call", async () => {
    let local = 0;
    const denials = makeDenials({ local: () => local, now: async () => 0, sleep: async () => {} });
    const [earlier, later] = [{ request: "r1" }, { request: "r1" }];
    const isKnown = (inquiry: { request: string }) => {
      denials.remember("f", "normal", {}, denials.epoch("f", "normal"));
      return denials.recall("f", "normal", inquiry) !== undefined;
    };
    const deny = async () => "denied";
    await denials.asking("f", earlier, deny, () => true);
    local = 9_999;
    expect([isKnown(earlier), isKnown(later)]).toEqual([true, true]);
    local = 10_000;
    expect([isKnown(earlier), isKnown(later)]).toEqual([true, false]);
  });

  test("that waits is asked of the store once, and then polls the memory while it lasts", async () => {
    const world = new World();
    const { lane, isolate } = world.faulty("none");
    const fleet = fleetOf(isolate);
    await lease(fleet);
    await isolate.settle();
    const before = await lane.seen();
    const { body } = await fleet.acquire({ request_id: "r1", wait_ms: 199 });
    expect(body).toMatchObject({ granted: false, reason: "at_capacity" });
    expect(await lane.seen()).toBe(before + 1);
  });

  test("that waits hears of a freed slot once the memory is over", async () => {
    const world = new World();
    const fleet = fleetOf(world);
    const held = await lease(fleet, { ttl_ms: 1_000 });
    const started = world.now;
    const { body } = await fleet.acquire({ pod: "waits", request_id: "r1", wait_ms: 5_000 });
    expect(body.lease.id).not.toBe(held);
    // A lapse, one memory, and the longest pause between polls.
    expect(world.now - started).toBeLessThan(1_000 + 200 + 1_250);
  });
});

test("a paused fleet is told apart from a full one, whatever is remembered", async () => {
  const { here } = await refused();
  await here.policy({ paused: true });
  expect((await here.acquire()).body.reason).toBe("paused");
  await here.policy({ paused: false });
  expect((await here.acquire()).body.reason).toBe("at_capacity");
});
