import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startFront } from "./front.ts";

const { post, run } = await startFront();
const KEY_LOCKING = "#!lua flags=allow-key-locking\n";
const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");

describe("a script with Upstash's key-locking line", () => {
  const script = `${KEY_LOCKING}return {KEYS[1], ARGV[1]}`;

  test("runs by EVAL and EVAL_RO", async () => {
    expect(await run("EVAL", script, 1, "k", "a")).toEqual(["k", "a"]);
    expect(await run("EVAL_RO", script, 1, "k", "a")).toEqual(["k", "a"]);
  });

  test("is then known by the SHA-1 of its full text, in either case", async () => {
    await run("EVAL", script, 1, "k", "a");
    expect(await run("EVALSHA", sha1(script), 1, "k", "b")).toEqual(["k", "b"]);
    expect(await run("EVALSHA_RO", sha1(script).toUpperCase(), 1, "k", "b")).toEqual(["k", "b"]);
    expect(await run("SCRIPT", "EXISTS", sha1(script), sha1("other"))).toEqual([1, 0]);
  });

  test("is loaded under that SHA-1", async () => {
    const loaded = `${KEY_LOCKING}return 'loaded'`;
    expect(await run("SCRIPT", "LOAD", loaded)).toBe(sha1(loaded));
    expect(await run("EVALSHA", sha1(loaded), 0)).toBe("loaded");
  });

  test("runs in pipelines and transactions", async () => {
    const commands = [
      ["EVAL", script, 1, "k", "a"],
      ["EVALSHA", sha1(script), 1, "k", "b"],
    ];
    const results = [{ result: ["k", "a"] }, { result: ["k", "b"] }];
    expect((await post("/pipeline", commands)).body).toEqual(results);
    expect((await post("/multi-exec", commands)).body).toEqual(results);
  });

  test("answers NOSCRIPT after SCRIPT FLUSH, so that its caller sends it again", async () => {
    await run("SCRIPT", "FLUSH");
    const { status, body } = await post("/", ["EVALSHA", sha1(script), 1, "k", "a"]);
    expect(status).toBe(400);
    expect(body.error).toMatch(/^NOSCRIPT /);
  });

  test("names the same line in its errors as it would with it", async () => {
    const { body } = await post("/", ["EVAL", `${KEY_LOCKING}local a = 1\nreturn nothing.here`, 0]);
    expect(body.error).toContain("user_script:3:");
  });
});

test("other flags of the first line stay in force", async () => {
  const script = "#!lua flags=allow-key-locking,no-writes\nreturn redis.call('SET', KEYS[1], 1)";
  expect((await post("/", ["EVAL", script, 1, "k"])).body.error).toContain("read-only");
});

test("a script without the line passes unchanged", async () => {
  const script = "return 'plain' -- allow-key-locking";
  expect(await run("SCRIPT", "LOAD", script)).toBe(sha1(script));
});
