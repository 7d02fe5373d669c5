import { expect, test } from "vitest";
import { filterOf, names } from "../support/filter.ts";
import { World } from "../support/world.ts";

test("what was added is found, what was not is not, and adding again adds nothing", async () => {
  const filter = filterOf(new World());
  expect((await filter.set()).body).toEqual({ capacity: 1_000, error_rate: 0.01 });
  expect(await filter.add("a", "b", "a")).toBe(2);
  expect(await filter.check("a", "b", "c")).toEqual([true, true, false]);
  expect(await filter.add("a", "c")).toBe(1);
});

test("any text is an item", async () => {
  const filter = filterOf(new World());
  await filter.set();
  const items = ["emoji 🚀", "\u0000", "{a}", "x".repeat(1_024), " ", "123", "true"];
  expect(await filter.add(...items)).toBe(items.length);
  expect(await filter.check(...items)).toEqual(items.map(() => true));
  expect(await filter.check("emoji", "12", "x")).toEqual([false, false, false]);
});

test("a full filter finds all it holds, and at most 1.2 times as many strangers as asked for", async () => {
  const filter = filterOf(new World());
  await filter.set({ capacity: 4_000, error_rate: 0.02 });
  for (let first = 0; first < 4; first++) await filter.add(...names(`in${first}`, 1_000));
  let wrong = 0;
  for (let first = 0; first < 4; first++) {
    expect(await filter.check(...names(`in${first}`, 1_000))).not.toContain(false);
    wrong += (await filter.check(...names(`out${first}`, 1_000))).filter(Boolean).length;
  }
  // 80 are expected; three standard deviations of such a draw are 27.
  expect(wrong).toBeLessThanOrEqual(1.2 * 80 + 27);
});

test("a rotation keeps what was added since the one before, and drops what is older", async () => {
  const world = new World();
  const filter = filterOf(world);
  await filter.set();
  await filter.add("first");
  expect((await filter.rotate()).body).toEqual({ rotated: true });
  await filter.add("second");
  expect(await filter.check("first", "second")).toEqual([true, true]);
  await filter.rotate();
  await filter.add("third");
  expect(await filter.check("first", "second", "third")).toEqual([false, true, true]);
  const shards = await world.redis<string[]>("KEYS", `${world.prefix}:*:bits:*`);
  expect(shards).toHaveLength(2);
});

test("an isolate that has not heard of rotations adds to and looks in the right generation", async () => {
  const world = new World();
  const here = filterOf(world);
  const elsewhere = filterOf(world.isolate());
  await here.set();
  await elsewhere.add("old");
  await here.rotate();
  await here.add("fresh");
  expect(await elsewhere.check("old", "fresh")).toEqual([true, true]);
  await here.rotate();
  expect(await elsewhere.add("late")).toBe(1);
  await here.rotate();
  expect(await elsewhere.check("late", "fresh")).toEqual([true, false]);
});

test("a changed size keeps finding what was added, through several changes and a rotation", async () => {
  const filter = filterOf(new World());
  await filter.set();
  await filter.add("one");
  await filter.set({ capacity: 5_000 });
  await filter.add("two");
  await filter.set({ capacity: 5_000, error_rate: 0.001 });
  await filter.add("three");
  expect((await filter.get()).body).toEqual({ capacity: 5_000, error_rate: 0.001 });
  expect(await filter.check("one", "two", "three", "four")).toEqual([true, true, true, false]);
  await filter.rotate();
  expect(await filter.check("one", "two", "three")).toEqual([true, true, true]);
  await filter.rotate();
  expect(await filter.check("one", "two", "three")).toEqual([false, false, false]);
});

test("the same size again changes nothing, and too many changes ask for a rotation", async () => {
  const world = new World();
  const filter = filterOf(world);
  await filter.set();
  await filter.add("kept");
  const before = await world.snapshot();
  await filter.set();
  expect(await world.snapshot()).toBe(before);
  for (let change = 1; change < 8; change++)
    expect((await filter.set({ capacity: 1_000 + change })).status).toBe(200);
  expect((await filter.set({ capacity: 9_999 })).body.errors[0].path).toBe("capacity");
  expect(await filter.check("kept")).toEqual([true]);
  await filter.rotate();
  await filter.rotate();
  expect((await filter.set({ capacity: 9_999 })).status).toBe(200);
});

test("adds, looks and rotations through several isolates at once lose nothing", async () => {
  const world = new World();
  const isolates = Array.from({ length: 4 }, () => filterOf(world.isolate()));
  await isolates[0]?.set({ capacity: 10_000 });
  const batches = isolates.map((filter, at) => filter.add(...names(`batch${at}`, 100)));
  await Promise.all([...batches, isolates[1]?.rotate()]);
  for (const filter of isolates) {
    for (let at = 0; at < isolates.length; at++) {
      expect(await filter.check(...names(`batch${at}`, 100))).not.toContain(false);
    }
  }
});

test("a removed filter is gone with its bits, and one made anew under its name starts empty everywhere", async () => {
  const world = new World();
  const filter = filterOf(world);
  const elsewhere = filterOf(world.isolate());
  await filter.set();
  await elsewhere.add("a");
  expect((await filter.remove()).body).toEqual({ deleted: true });
  expect((await filter.remove()).body).toEqual({ deleted: false });
  expect(await world.redis("KEYS", `${world.prefix}:*`)).toEqual([]);
  for (const call of [world.post("/v1/filters/known/add", { items: ["a"] }), filter.get(), filter.rotate()]) {
    expect(await call).toMatchObject({ status: 404, body: { code: "not-found" } });
  }
  await filter.set();
  expect(await elsewhere.check("a")).toEqual([false]);
});

test("half a surrogate pair, which has no UTF-8, is refused instead of taken for any other", async () => {
  const world = new World();
  await filterOf(world).set();
  const before = await world.snapshot();
  expect(await world.post("/v1/filters/known/add", { items: ["a", "\ud800"] })).toMatchObject({
    status: 400,
    body: { errors: [{ path: "items.1", message: "must be well-formed Unicode" }] },
  });
  expect(await world.snapshot()).toEqual(before);
});
