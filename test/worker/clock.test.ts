import { describe, expect, inject, test } from "vitest";
import { type Clock, makeClock } from "../../src/redis/clock.ts";
import { makeStore } from "../../src/redis/store.ts";
import { fleetOf, lease } from "../support/fleet.ts";
import { World } from "../support/world.ts";

/** A clock over a pretended Redis, whose time runs with the isolate's own and is `ahead` of it. */
function pretended({ ahead = 0, tripMs = 0 } = {}) {
  const state = { local: 5_000, ahead, asked: 0, fails: false, deferred: [] as Promise<unknown>[] };
  const clock = makeClock({
    local: () => state.local,
    defer: (work) => state.deferred.push(work),
    async time() {
      state.asked += 1;
      if (state.fails) throw new Error("away");
      state.local += tripMs / 2;
      const there = state.local + state.ahead;
      state.local += tripMs / 2;
      return there;
    },
  });
  const settle = () => Promise.all(state.deferred.splice(0));
  return { clock, state, settle };
}

describe("the clock", () => {
  test.each([-120_000, 0, 120_000])(
    "tells Redis's time in an isolate that is wrong by %i ms",
    async (skew) => {
      const store = makeStore({ url: inject("restUrl"), token: inject("restToken") });
      const clock = makeClock({ time: () => store.time(), defer: () => {}, local: () => Date.now() + skew });
      const before = await store.time();
      const now = await clock.now();
      const after = await store.time();
      // Half a trip either way is as well as it can be known.
      const trip = after - before;
      expect(now).toBeGreaterThanOrEqual(before - trip);
      expect(now).toBeLessThanOrEqual(after + trip);
    },
  );

  test("asks once, however often the time is wanted within a minute", async () => {
    const { clock, state } = pretended({ ahead: 7_000 });
    for (let call = 0; call < 60; call++) {
      expect(await clock.now()).toBe(state.local + 7_000);
      state.local += 999;
    }
    expect(state.asked).toBe(1);
  });

  test("takes half the round trip off, and counts the rest of it as time that passed", async () => {
    const { clock, state } = pretended({ ahead: 7_000, tripMs: 300 });
    expect(await clock.now()).toBe(state.local + 7_000);
    expect(state.local).toBe(5_300);
  });

  test("is asked anew in the background once it is 60 s old, and nobody waits for it", async () => {
    const { clock, state, settle } = pretended({ ahead: 7_000 });
    await clock.now();
    state.local += 59_999;
    await clock.now();
    expect(state.deferred).toHaveLength(0);
    state.local += 1;
    state.ahead = 9_000;
    expect(await clock.now()).toBe(state.local + 7_000);
    expect(state.deferred).toHaveLength(1);
    await settle();
    expect(await clock.now()).toBe(state.local + 9_000);
    expect(state.asked).toBe(2);
  });

  test("keeps what it knows when Redis cannot be asked anew, and tries again after 5 s", async () => {
    const { clock, state, settle } = pretended({ ahead: 7_000 });
    await clock.now();
    state.local += 60_000;
    state.fails = true;
    expect(await clock.now()).toBe(state.local + 7_000);
    await settle();
    state.local += 4_999;
    await clock.now();
    expect(state.asked).toBe(2);
    state.local += 1;
    expect(await clock.now()).toBe(state.local + 7_000);
    expect(state.asked).toBe(3);
  });

  test.each([2_000, 3_600_000])(
    "goes on where the isolate's own is set back by %i ms, and what it remembers ends in its time",
    async (back) => {
      const { clock, state } = pretended({ ahead: 7_000 });
      const before = await clock.now();
      const remembered = clock.local() + 5_000;
      state.local -= back;
      expect(await clock.now()).toBe(before);
      state.local += 5_000;
      expect(await clock.now()).toBe(before + 5_000);
      expect(clock.local()).toBe(remembered);
      state.local -= back;
      state.local += 1;
      expect(await clock.now()).toBe(before + 5_001 - 1);
    },
  );

  test("may stand still for a request that others have overtaken", async () => {
    const { clock, state } = pretended({ ahead: 7_000 });
    await clock.now();
    state.local += 900;
    await clock.now();
    state.local -= 900;
    expect(await clock.now()).toBe(state.local + 7_000);
    state.local += 1_800;
    expect(await clock.now()).toBe(state.local + 7_000);
  });

  test("tells no time before it has heard one", async () => {
    const { clock, state } = pretended({ ahead: 7_000 });
    state.fails = true;
    await expect(clock.now()).rejects.toThrow("away");
    state.fails = false;
    expect(await clock.now()).toBe(state.local + 7_000);
  });
});

describe("isolates whose clocks are wrong by two minutes either way", () => {
  const skewed =
    (skew: number) =>
    (time: { now: number }): Clock => ({
      ...makeClock({ time: async () => time.now, defer: () => {}, local: () => time.now + skew }),
      sleep: async (ms) => {
        time.now += ms;
      },
    });
  const both = () => {
    const world = new World();
    return [-120_000, 120_000].map((skew) => fleetOf(world.isolate({ clock: skewed(skew) })));
  };

  test("count, grant, renew and let lapse as if they were right", async () => {
    const [slow, fast] = both() as [ReturnType<typeof fleetOf>, ReturnType<typeof fleetOf>];
    await slow.beat();
    expect((await fast.status()).live).toBe(1);
    const held = await lease(fast, { ttl_ms: 3_000 });
    for (let third = 0; third < 9; third++) {
      slow.world.advance(1_000);
      const fleet = third % 2 ? slow : fast;
      expect((await fleet.beat({ leases: [held] })).body.lost).toEqual([]);
      expect((await fleet.acquire()).body.granted).toBe(false);
    }
    slow.world.advance(2_999);
    expect((await fast.status()).busy).toBe(1);
    slow.world.advance(1);
    expect((await slow.status()).busy).toBe(0);
    expect((await fast.beat({ leases: [held] })).body.lost).toEqual([held]);
    slow.world.advance(29_999);
    expect((await slow.status()).live).toBe(1);
    slow.world.advance(1);
    expect((await fast.status()).live).toBe(0);
  });

  test("tell the same deadline, in Redis's time", async () => {
    const [slow, fast] = both() as [ReturnType<typeof fleetOf>, ReturnType<typeof fleetOf>];
    const first = await slow.acquire({ request_id: "r1" });
    const again = await fast.acquire({ request_id: "r1" });
    expect(first.body.lease.expires_at).toBe(slow.world.now + 30_000);
    expect(again.body.lease).toEqual(first.body.lease);
  });

  test("a time in the body of a call is an unknown field", async () => {
    const [slow] = both();
    for (const field of ["now", "at", "timestamp", "expires_at"]) {
      expect((await slow?.beat({ [field]: 0 }))?.status).toBe(400);
    }
  });
});
