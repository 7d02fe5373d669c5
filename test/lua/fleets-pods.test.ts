import { describe, expect, test } from "vitest";
import { fleetOf, lease, type TestFleet } from "../support/fleet.ts";
import { World } from "../support/world.ts";

// biome-ignore lint/suspicious/noExplicitAny: a pod as the wire has it.
type Pod = any;

/** All pages, one after the other; `between` happens before each but the first. */
async function walk(fleet: TestFleet, limit: number, between: () => Promise<unknown> = async () => {}) {
  const pods: Pod[] = [];
  let query = `?limit=${limit}`;
  for (;;) {
    const page = await fleet.pods(query);
    expect(page.pods.length).toBeLessThanOrEqual(limit);
    pods.push(...page.pods);
    if (page.next === null) return pods;
    query = `?limit=${limit}&cursor=${encodeURIComponent(page.next)}`;
    await between();
  }
}

test("a pod is shown with all that is known of it, and its leases with it", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat({ instance: "7", slots: 3, labels: { gpu: "a100" } });
  const held = await lease(fleet, { instance: "7", class: "high", ttl_ms: 5_000 });
  world.advance(1_000);
  expect(await fleet.pods()).toEqual({
    pods: [
      {
        cluster: "a",
        pod: "worker-0",
        instance: "7",
        slots: 3,
        state: "ready",
        labels: { gpu: "a100" },
        expires_in_ms: 29_000,
        leases: [{ id: held, class: "high", expires_in_ms: 4_000 }],
      },
    ],
    next: null,
  });
});

test("a pod that beats without an instance has null for it", async () => {
  const fleet = fleetOf(new World());
  await fleet.beat();
  expect((await fleet.pods()).pods[0]).toMatchObject({ instance: null, labels: {}, leases: [] });
});

test("starting and draining pods are shown in their state", async () => {
  const fleet = fleetOf(new World());
  await fleet.beat({ pod: "d", state: "draining" });
  await fleet.beat({ pod: "r" });
  await fleet.beat({ pod: "s", state: "starting", slots: 2 });
  const shown = (await fleet.pods()).pods.map(({ pod, state, slots }: Pod) => [pod, state, slots]);
  expect(shown).toEqual([
    ["d", "draining", 1],
    ["r", "ready", 1],
    ["s", "starting", 2],
  ]);
});

test("a pod that holds a lease but never beat, or has lapsed, is silent and listed with what it holds", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat({ pod: "lapsed", instance: "1" });
  const one = await lease(fleet, { pod: "lapsed", instance: "1", ttl_ms: 60_000 });
  world.advance(30_000);
  const two = await lease(fleet, { pod: "never", instance: "2", class: "high" }).catch(() => "");
  expect(two).toBe("");
  await fleet.beatMany(5, "b");
  const three = await lease(fleet, { pod: "never", instance: "2" });
  const silent = (await fleet.pods()).pods.filter(({ state }: Pod) => state === "silent");
  expect(silent).toMatchObject([
    {
      pod: "lapsed",
      instance: "1",
      slots: 0,
      expires_in_ms: 0,
      leases: [{ id: one, expires_in_ms: 30_000 }],
    },
    { pod: "never", instance: "2", slots: 0, expires_in_ms: 0, leases: [{ id: three }] },
  ]);
});

test("the leases that an older instance left are listed under the pod until they run out", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beatMany(5, "b");
  await fleet.beat({ instance: "1" });
  const old = await lease(fleet, { instance: "1", ttl_ms: 10_000 });
  await fleet.beat({ instance: "2" });
  const fresh = await lease(fleet, { instance: "2" });
  const [pod] = (await fleet.pods()).pods;
  expect(pod).toMatchObject({ instance: "2", state: "ready" });
  expect(pod.leases.map(({ id }: Pod) => id).sort()).toEqual([old, fresh].sort());
  world.advance(10_000);
  expect((await fleet.pods()).pods[0].leases).toMatchObject([{ id: fresh }]);
});

test("pods that lapsed, left or were replaced, and leases that ended, are not shown", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.beat({ pod: "lapsed" });
  world.advance(30_000);
  await fleet.beat({ pod: "left" });
  await fleet.leave({ pod: "left" });
  await fleet.beat({ pod: "p", instance: "1", slots: 3 });
  await fleet.beat({ pod: "p", instance: "2" });
  await fleet.release(await lease(fleet, { pod: "p", instance: "2" }));
  expect((await fleet.pods()).pods).toMatchObject([{ pod: "p", instance: "2", slots: 1, leases: [] }]);
});

describe("paging", () => {
  const crowd = async () => {
    const world = new World();
    const fleet = fleetOf(world);
    await fleet.beatMany(200, "a");
    await fleet.beatMany(50, "b");
    const held = new Set<string>();
    for (let at = 0; at < 40; at++) held.add(await lease(fleet, { cluster: "b", pod: `worker-${at * 7}` }));
    return { world, fleet, held };
  };

  test.each([1, 7, 100, 250, 251, 1_000])(
    "with limit %i gives each pod and each lease exactly once, in order",
    async (limit) => {
      const { fleet, held } = await crowd();
      const pods = await walk(fleet, limit);
      const names = pods.map(({ cluster, pod }) => `${cluster}/${pod}`);
      expect(names).toEqual([...names].sort());
      const expected = new Set([
        ...Array.from({ length: 200 }, (_, at) => `a/worker-${at}`),
        ...Array.from({ length: 50 }, (_, at) => `b/worker-${at}`),
        ...Array.from({ length: 40 }, (_, at) => `b/worker-${at * 7}`),
      ]);
      expect(names).toHaveLength(expected.size);
      expect(new Set(names)).toEqual(expected);
      const leases = pods.flatMap((pod) => pod.leases.map(({ id }: Pod) => id));
      expect(leases).toHaveLength(40);
      expect(new Set(leases)).toEqual(held);
    },
  );

  test("goes by cluster first, also where a name is the beginning of another", async () => {
    const fleet = fleetOf(new World());
    const names = ["a", "a-1", "a.b", "ab"].flatMap((cluster) =>
      ["w", "w-1", "w.2", "w0"].map((pod) => ({ cluster, pod })),
    );
    for (const name of names.toReversed()) await fleet.beat(name);
    await lease(fleet, { cluster: "a", pod: "w-1" });
    for (const limit of [1, 3, 16]) {
      const pods = await walk(fleet, limit);
      expect(pods.map(({ cluster, pod }) => ({ cluster, pod }))).toEqual(names);
      expect(pods.flatMap(({ leases }) => leases)).toHaveLength(1);
    }
  });

  test("gives each pod exactly once while all of them renew between the pages", async () => {
    const { world, fleet } = await crowd();
    const pods = await walk(fleet, 40, async () => {
      world.advance(7);
      await fleet.beatMany(50, "b");
      await fleet.beatMany(200, "a");
    });
    const names = pods.map(({ cluster, pod }) => `${cluster}/${pod}`);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(Array.from({ length: 200 }, (_, at) => `a/worker-${at}`)));
  });

  test("is the same from every isolate, and goes on past a pod that has left", async () => {
    const { world, fleet } = await crowd();
    const first = await fleet.pods("?limit=10");
    const last = first.pods.at(-1);
    await fleet.leave({ cluster: last.cluster, pod: last.pod });
    const next = await fleetOf(world.isolate()).pods(`?limit=10&cursor=${encodeURIComponent(first.next)}`);
    expect(next.pods[0].pod > last.pod).toBe(true);
    expect(next.pods).toHaveLength(10);
  });

  test("an empty fleet has one empty page", async () => {
    expect(await fleetOf(new World()).pods("?limit=1")).toEqual({ pods: [], next: null });
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=many", "limit"],
    ["limit=", "limit"],
    ["cursor=!", "cursor"],
    ["cursor=YWJj", "cursor"],
    [`cursor=${btoa("a/b/c")}`, "cursor"],
    [`cursor=${btoa("../x")}%00`, "cursor"],
    [`cursor=${"x".repeat(1_300)}`, "cursor"],
    ["page=2", "page"],
  ])("refuses ?%s by name", async (query, path) => {
    const { status, body } = await new World().get(`/v1/fleets/render/pods?${query}`);
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe(path);
  });
});
