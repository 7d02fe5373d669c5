import { describe, expect, test } from "vitest";
import { fleetOf, type TestFleet } from "../support/fleet.ts";
import { World } from "../support/world.ts";

const who = [
  { cluster: "a", pod: "p" },
  { cluster: "a", pod: "q" },
  { cluster: "b", pod: "p" },
  { cluster: "b", pod: "q" },
];

/** Who hears `drain` in its next beat, as cluster/pod; alone and in a batch must say the same. */
async function draining(fleet: TestFleet): Promise<string[]> {
  const heard: string[] = [];
  for (const { cluster, pod } of who) {
    const alone = (await fleet.beat({ cluster, pod })).body.directive;
    const batch = (await fleet.batch(cluster, [{ pod }])).body.drain;
    expect(batch).toEqual(alone === "drain" ? [pod] : []);
    if (alone === "drain") heard.push(`${cluster}/${pod}`);
  }
  return heard;
}

describe("the next beat hears drain", () => {
  test.each([
    ["one pod", { cluster: "a", pod: "p" }, ["a/p"]],
    ["a cluster", { cluster: "b" }, ["b/p", "b/q"]],
    ["a pod's name in every cluster", { pod: "q" }, ["a/q", "b/q"]],
    ["the whole fleet", {}, ["a/p", "a/q", "b/p", "b/q"]],
  ])("where %s was told to", async (_, entry, expected) => {
    const fleet = fleetOf(new World());
    expect(await draining(fleet)).toEqual([]);
    expect((await fleet.drain({ ...entry, drain: true })).body).toEqual({ draining: [entry] });
    expect(await draining(fleet)).toEqual(expected);
    expect((await fleet.drain({ ...entry, drain: false })).body).toEqual({ draining: [] });
    expect(await draining(fleet)).toEqual([]);
  });

  test("in every other isolate within 5 s", async () => {
    const world = new World();
    const [fleet, other] = [fleetOf(world), fleetOf(world.isolate())];
    await other.beat();
    await fleet.drain({ cluster: "a", drain: true });
    world.advance(5_000);
    expect((await other.beat()).body.directive).toBe("drain");
    await fleet.drain({ cluster: "a", drain: false });
    world.advance(5_000);
    expect((await other.beat()).body.directive).toBe("run");
  });

  test("of its own fleet alone", async () => {
    const world = new World();
    await fleetOf(world, "one").drain({ drain: true });
    expect((await fleetOf(world, "other").beat()).body.directive).toBe("run");
  });
});

test("the directive alone changes no count: the pod is live until it says that it drains", async () => {
  const fleet = fleetOf(new World());
  await fleet.beat();
  await fleet.drain({ drain: true });
  expect(await fleet.status()).toMatchObject({ live: 1, draining: 0 });
});

test("an entry that is taken back leaves those that reach further", async () => {
  const fleet = fleetOf(new World());
  await fleet.drain({ cluster: "a", drain: true });
  await fleet.drain({ cluster: "a", pod: "p", drain: true });
  await fleet.drain({ cluster: "a", pod: "p", drain: false });
  expect(await draining(fleet)).toEqual(["a/p", "a/q"]);
  expect((await fleet.drain({ pod: "nobody", drain: false })).body.draining).toEqual([{ cluster: "a" }]);
});

test("each entry ends 24 h after it was last made", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.drain({ cluster: "a", drain: true });
  world.advance(43_200_000);
  await fleet.drain({ cluster: "b", drain: true });
  world.advance(43_199_999);
  expect(await draining(fleet)).toEqual(["a/p", "a/q", "b/p", "b/q"]);
  world.advance(5_001);
  expect(await draining(fleet)).toEqual(["b/p", "b/q"]);
  expect((await fleet.drain({ cluster: "b", drain: true })).body.draining).toEqual([{ cluster: "b" }]);
  world.advance(86_399_999);
  expect(await draining(fleet)).toEqual(["b/p", "b/q"]);
});

test("a thousand entries stand, one more is refused, one that stands may be made anew", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.drain({ pod: "p0", drain: true });
  const [key = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:drain`);
  const more = Array.from({ length: 999 }, (_, at) => [world.now + 86_400_000, `/p${at + 1}`]);
  await world.redis("ZADD", key, ...more.flat());
  await world.settle();
  const before = await world.snapshot();
  const refused = await fleet.drain({ pod: "one-more", drain: true });
  expect(refused.status).toBe(400);
  expect(refused.body.errors[0].path).toBe("drain");
  expect(await world.snapshot()).toBe(before);
  world.advance(1);
  expect((await fleet.drain({ pod: "p7", drain: true })).body.draining).toHaveLength(1_000);
  expect((await fleet.drain({ pod: "p7", drain: false })).body.draining).toHaveLength(999);
  expect((await fleet.drain({ pod: "one-more", drain: true })).body.draining).toHaveLength(1_000);
});

test("the list ends with its last entry, so that nothing of it stays", async () => {
  const world = new World();
  const fleet = fleetOf(world);
  await fleet.drain({ drain: true });
  const [key = ""] = await world.redis<string[]>("KEYS", `${world.prefix}:*:drain`);
  const ttl = await world.redis<number>("PTTL", key);
  expect(ttl).toBeGreaterThan(86_390_000);
  expect(ttl).toBeLessThanOrEqual(86_400_000);
});
