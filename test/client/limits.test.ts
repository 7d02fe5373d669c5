import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient, ProblemError, UnavailableError } from "../../src/client/index.ts";
import { type Live, startLive } from "./support/live.ts";

let live: Live;

beforeAll(async () => {
  live = await startLive();
}, 60_000);

afterAll(() => live[Symbol.asyncDispose]());

it("the client sets, takes, settles, peeks and removes", async () => {
  const limit = createClient(live).limit("gpu");
  await limit.put({ algorithm: "token_bucket", capacity: 10, refill_per_s: 0.00001 });
  expect((await limit.get()).capacity).toBe(10);
  expect(await limit.take({ cost: 4, request_id: "r1" })).toMatchObject({ allowed: true, remaining: 6 });
  expect(await limit.settle({ request_id: "r1", actual: 1 })).toEqual({ settled: true, remaining: 9 });
  expect(await limit.take({ cost: 10, key: "a/b?" })).toMatchObject({ allowed: true });
  const { limits } = await createClient(live).limits();
  expect(limits).toMatchObject([{ limit: "gpu", remaining: 9, config: { capacity: 10 } }]);
  expect(await limit.peek("a/b?")).toMatchObject({ allowed: false, remaining: 0 });
  expect(await limit.delete()).toEqual({ deleted: true });
  await expect(limit.take()).rejects.toThrow(ProblemError);
});

it("a take whose answer was lost is asked again and spends once", async () => {
  let lost = 0;
  const client = createClient({
    ...live,
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      if (!url.endsWith("/take") || lost > 0) return answer;
      lost += 1;
      throw new TypeError("the network ate the answer");
    },
  });
  const limit = client.limit("lossy");
  await limit.put({ algorithm: "token_bucket", capacity: 10, refill_per_s: 0.00001 });
  expect(await limit.take()).toMatchObject({ allowed: true, remaining: 9 });
  expect(lost).toBe(1);
  lost = 0;
  await expect(limit.take({}, { retry: false })).rejects.toThrow(UnavailableError);
  expect((await limit.peek()).remaining).toBe(8);
  expect(await client.take({ takes: [{ limit: "lossy" }] })).toMatchObject({ allowed: true });
});

it("the client sets, fills, asks, guards with and rotates a filter", async () => {
  const client = createClient(live);
  const filter = client.filter("known");
  await filter.put({ capacity: 1_000, error_rate: 0.01 });
  await client.limit("rare").put({ algorithm: "token_bucket", capacity: 1, refill_per_s: 0.00001 });
  expect(await filter.add(["a", "b"])).toEqual({ added: 2 });
  expect(await filter.check(["a", "c"])).toEqual([true, false]);
  expect(await filter.guard({ item: "c", limit: "rare" })).toEqual({ verdict: "absent" });
  expect(await filter.guard({ item: "a", limit: "rare" })).toEqual({ verdict: "pass" });
  expect((await filter.guard({ item: "a", limit: "rare" })).verdict).toBe("limited");
  expect(await filter.rotate()).toEqual({ rotated: true });
  expect(await filter.delete()).toEqual({ deleted: true });
});
