import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startFront, TOKEN } from "./front.ts";

const { rest, call, post, run } = await startFront();

describe("commands in the body", () => {
  test("answer statuses, integers, strings, null and nested arrays", async () => {
    expect(await run("SET", "k", "v")).toBe("OK");
    expect(await run("APPEND", "k", "w")).toBe(2);
    expect(await run("GET", "k")).toBe("vw");
    expect(await run("GET", "missing")).toBeNull();
    expect(await run("EVAL", "return {1, 'a', {false, {}}}", 0)).toEqual([1, "a", [null, []]]);
    expect(await run("PING")).toBe("PONG");
  });

  test("take numbers, booleans, null and objects as the text that was sent", async () => {
    const body = '["MSET","a",1,"b",1.10,"c",9007199254740993,"d",true,"e",null,"f",{"x":[1.50,"y"]},"g",-0]';
    expect((await post("/", body)).body).toEqual({ result: "OK" });
    const kept = ["1", "1.10", "9007199254740993", "true", "null", '{"x":[1.50,"y"]}', "-0"];
    expect(await run("MGET", ..."abcdefg")).toEqual(kept);
  });

  test.each(["123", "true", "[]", "{}", "null", "9007199254740993", "🚀", "a\0b", "", "OK", " ", '"'])(
    "give %j back as it was sent",
    async (text) => {
      await run("SET", "text", text);
      expect(await run("GET", "text")).toBe(text);
    },
  );

  test("answer integers beyond 2^53 exactly", async () => {
    await run("SET", "n", "9007199254740992");
    expect((await post("/", ["INCR", "n"])).text).toBe('{"result":9007199254740993}');
  });

  test("answer 400 with the words of Redis", async () => {
    const { status, body } = await post("/", ["GET"]);
    expect(status).toBe(400);
    expect(body).toEqual({ error: "ERR wrong number of arguments for 'get' command" });
  });

  test("keep an error inside an array in its place", async () => {
    const script = "return {1, redis.error_reply('MINE oh'), 2}";
    expect(await run("EVAL", script, 0)).toEqual([1, { error: "MINE oh" }, 2]);
  });

  test.each(["", "{", "[", "null", "1", '"GET"', "{}", "[]", "[1]", "[null]", '[["GET","k"]]'])(
    "that are no command (%j) answer 400",
    async (body) => {
      const answer = await post("/", body);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringMatching(/^ERR /) });
    },
  );
});

describe("commands in the path", () => {
  test("take their arguments from its segments, by GET, POST and PUT", async () => {
    expect((await call("/set/p%2F1/v%20w")).body).toEqual({ result: "OK" });
    expect((await call("/get/p%2F1", { method: "POST" })).body).toEqual({ result: "v w" });
    expect((await call("/get/p%2F1", { method: "PUT" })).body).toEqual({ result: "v w" });
    expect((await call("/get/p%2F1", { method: "HEAD" })).status).toBe(200);
  });

  test("take a body as last argument, byte for byte, and the query after it", async () => {
    const bytes = randomBytes(64);
    expect((await call("/set/bin?EX=100", { method: "POST", body: bytes })).body).toEqual({ result: "OK" });
    const read = await call("/get/bin", { headers: { "upstash-encoding": "base64" } });
    expect(Buffer.from(read.body.result, "base64").equals(bytes)).toBe(true);
    expect(await run("TTL", "bin")).toBe(100);
  });

  test("take query parameters without a value as flags", async () => {
    await call("/set/flag/1");
    expect((await call("/set/flag/2?NX=")).body).toEqual({ result: null });
  });

  test("answer 400 when badly encoded", async () => {
    expect((await call("/get/%ff")).status).toBe(400);
  });
});

describe("base64 replies", () => {
  const headers = { "upstash-encoding": "base64" };

  test("encode every string but a plain OK", async () => {
    expect((await post("/", ["SET", "b", "OK"], headers)).body).toEqual({ result: "OK" });
    expect((await post("/", ["GET", "b"], headers)).body).toEqual({ result: "T0s=" });
    expect((await post("/", ["PING"], headers)).body).toEqual({ result: "UE9ORw==" });
    const nested = await post(
      "/",
      ["EVAL", "return {'a', 1, redis.call('SET', KEYS[1], 'x')}", 1, "b"],
      headers,
    );
    expect(nested.body).toEqual({ result: ["YQ==", 1, "T0s="] });
  });
});

describe("pipelines and transactions", () => {
  test("answer each command of a pipeline in its place", async () => {
    const { status, body } = await post("/pipeline", [
      ["SET", "q", 1],
      ["NOPE"],
      ["BLPOP", "q", 0],
      ["INCR", "q"],
    ]);
    expect(status).toBe(200);
    expect(body).toEqual([
      { result: "OK" },
      { error: expect.stringContaining("unknown command") },
      { error: "ERR Command is not available: 'BLPOP'" },
      { result: 2 },
    ]);
  });

  test("run a transaction as a whole, with an error in its place", async () => {
    const { status, body } = await post("/multi-exec", [
      ["SET", "t", "x"],
      ["INCR", "t"],
      ["GET", "t"],
    ]);
    expect(status).toBe(200);
    expect(body).toEqual([
      { result: "OK" },
      { error: expect.stringContaining("not an integer") },
      { result: "x" },
    ]);
  });

  test("discard a transaction that Redis refuses to queue", async () => {
    const { status, body } = await post("/multi-exec", [["SET", "discarded", 1], ["NOPE"]]);
    expect(status).toBe(400);
    expect(body).toEqual({ error: expect.stringMatching(/^EXECABORT .*unknown command/) });
    expect(await run("GET", "discarded")).toBeNull();
  });

  test("let no other call come between the commands of a transaction", async () => {
    await run("SET", "atomic", 0);
    const transaction = () =>
      post("/multi-exec", [
        ["INCR", "atomic"],
        ["INCR", "atomic"],
      ]);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? transaction() : run("INCRBY", "atomic", 1000))),
    );
    for (const { body } of answers.filter((_, at) => at % 2) as { body: { result: number }[] }[]) {
      expect(body[1]?.result).toBe((body[0]?.result ?? 0) + 1);
    }
  });

  test.each(["", "{}", "[]", '["GET","k"]', "[[]]", "[1]"])(
    "that hold no commands (%j) answer 400",
    async (body) => {
      expect((await post("/pipeline", body)).status).toBe(400);
      expect((await post("/multi-exec", body)).status).toBe(400);
    },
  );

  test.each([
    ["MULTI"],
    ["SELECT", 1],
    ["SUBSCRIBE", "c"],
    ["XREAD", "BLOCK", 0, "STREAMS", "s", "$"],
    ["QUIT"],
  ])("and plain calls refuse %s, which would harm the shared connection", async (...command) => {
    const error = `ERR Command is not available: '${command[0]}'`;
    expect(await post("/", command)).toMatchObject({ status: 400, body: { error } });
    expect(await post("/multi-exec", [command])).toMatchObject({ status: 400, body: { error } });
  });
});

describe("the token", () => {
  test.each(["/", "/pipeline", "/multi-exec", "/get/k"])("is needed on %s", async (path) => {
    for (const authorization of ["", "Bearer wrong", TOKEN, `Basic ${TOKEN}`]) {
      const answer = await call(path, { method: "POST", body: '["PING"]', headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.body.error).toMatch(/token/);
    }
  });

  test("may come in the query instead, and is then no argument", async () => {
    const answer = await fetch(`${rest.url}/set/token/1?_token=${encodeURIComponent(TOKEN)}&EX=50`);
    expect(await answer.json()).toEqual({ result: "OK" });
    expect((await fetch(`${rest.url}/get/token?_token=wrong`)).status).toBe(401);
  });

  test("is checked before the method, and other methods answer 405", async () => {
    expect((await call("/get/k", { method: "DELETE" })).status).toBe(405);
    expect((await call("/get/k", { method: "DELETE", headers: { authorization: "" } })).status).toBe(401);
  });
});
