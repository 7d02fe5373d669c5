import { Redis } from "@upstash/redis";
import { expect, test } from "vitest";
import { startFront, TOKEN } from "./front.ts";

const { rest, run } = await startFront();
const redis = new Redis({ url: rest.url, token: TOKEN });

test("the SDK reads and writes with its default settings", async () => {
  expect(await redis.ping()).toBe("PONG");
  expect(await redis.set("k", { a: [1, "🚀"] })).toBe("OK");
  expect(await redis.get("k")).toEqual({ a: [1, "🚀"] });
  expect(await redis.get("missing")).toBeNull();
  expect(await redis.type("k")).toBe("string");
  expect(await redis.set("ok", "OK")).toBe("OK");
  expect(await redis.get("ok")).toBe("OK");
});

test("the SDK reads a hash, missing or not", async () => {
  expect(await redis.hset("h", { one: 1, two: "zwei" })).toBe(2);
  expect(await redis.hgetall("h")).toEqual({ one: 1, two: "zwei" });
  expect(await redis.hgetall("no hash")).toBeNull();
  expect(await redis.hmget("h", "one", "none")).toEqual({ one: 1, none: null });
});

test("the SDK batches calls made at once into a pipeline, and tells their errors apart", async () => {
  await redis.set("text", "x");
  const calls = [redis.incr("n"), redis.incr("text"), redis.incr("n")];
  const results = await Promise.allSettled(calls);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("the SDK runs pipelines and transactions", async () => {
  expect(await redis.pipeline().set("p", "v").get("p").get("none").exec()).toEqual(["OK", "v", null]);
  expect(
    await redis.multi().incr("m").incrbyfloat("m", 0.5).zadd("z", { score: 1, member: "a" }).exec(),
  ).toEqual([1, 1.5, 1]);
});

test("the SDK sends a script once, and again after SCRIPT FLUSH", async () => {
  const source = "#!lua flags=allow-key-locking\nreturn {KEYS[1], ARGV[1], false}";
  const script = redis.createScript<[string, string, null]>(source);
  expect(await script.exec(["k"], ["a"])).toEqual(["k", "a", null]);
  await run("SCRIPT", "FLUSH");
  expect(await script.exec(["k"], ["b"])).toEqual(["k", "b", null]);
});

test("the SDK gives text back as it was sent when it does not parse replies", async () => {
  const raw = new Redis({ url: rest.url, token: TOKEN, automaticDeserialization: false });
  for (const text of ["123", "true", "[]", "9007199254740993", "a\0b", "🚀"]) {
    await raw.set("raw", text);
    expect(await raw.get("raw")).toBe(text);
  }
});
