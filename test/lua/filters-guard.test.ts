import { expect, test } from "vitest";
import { filterOf } from "../support/filter.ts";
import { limitOf } from "../support/limit.ts";
import { World } from "../support/world.ts";

async function setUp() {
  const world = new World();
  const filter = filterOf(world);
  const limit = limitOf(world);
  await filter.set();
  await filter.add("known");
  await limit.set({ capacity: 2, refill_per_s: 0.5 });
  return { world, filter, limit };
}

test("an item never added is absent and spends nothing, a known one spends until limited", async () => {
  const { world, filter, limit } = await setUp();
  const before = await world.snapshot();
  for (let storm = 0; storm < 20; storm++) {
    expect((await filter.guard({ item: `unknown-${storm}`, limit: "gpu" })).body).toEqual({
      verdict: "absent",
    });
  }
  expect(
    (await filter.guard({ item: "unknown", limit: "no such limit".replaceAll(" ", "-") })).body.verdict,
  ).toBe("absent");
  expect(await world.snapshot()).toBe(before);
  expect((await filter.guard({ item: "known", limit: "gpu", cost: 2 })).body).toEqual({ verdict: "pass" });
  const limited = await filter.guard({ item: "known", limit: "gpu", cost: 2 });
  expect(limited.body).toEqual({ verdict: "limited", retry_after_ms: 4_000 });
  expect(limited.headers.get("retry-after")).toBe("4");
  expect((await filter.guard({ item: "known", limit: "gpu", key: "other" })).body.verdict).toBe("pass");
  expect((await limit.peek()).body.remaining).toBe(0);
});

test("a known item with a limit that is not there, or a cost it never meets, is refused", async () => {
  const { filter } = await setUp();
  expect((await filter.guard({ item: "known", limit: "nobody" })).status).toBe(404);
  expect((await filter.guard({ item: "known", limit: "gpu", cost: 3 })).body.code).toBe(
    "cost-exceeds-capacity",
  );
});

test("a leaky limit lets a known item pass and says when its turn is", async () => {
  const { world, filter } = await setUp();
  await limitOf(world, "lane").set({ algorithm: "leaky_bucket", capacity: 3, leak_per_s: 2 });
  expect((await filter.guard({ item: "known", limit: "lane" })).body).toEqual({ verdict: "pass" });
  expect((await filter.guard({ item: "known", limit: "lane" })).body).toEqual({
    verdict: "pass",
    delay_ms: 500,
  });
});
