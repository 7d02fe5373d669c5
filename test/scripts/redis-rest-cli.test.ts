import { type AddressInfo, createServer } from "node:net";
import { expect, inject, test } from "vitest";
import { ROOT, runProgram } from "./dev-process.ts";
import { until } from "./front.ts";

const start = (args: string[], env?: Record<string, string>) =>
  runProgram(process.execPath, [`${ROOT}/scripts/redis-rest.ts`, ...args], env);

test.each(["SIGTERM", "SIGINT"] as const)(
  "the front says one line when ready, serves, and ends with 0 on %s",
  async (signal) => {
    const front = start(["--port", "0"], { REDIS_URL: inject("redisUrl"), UPSTASH_REDIS_REST_TOKEN: "t" });
    await until(() => front.said.stdout.includes("\n"));
    const [, url] = /^redis-rest ready url=(\S+)\n$/.exec(front.said.stdout) ?? [];
    const answer = await fetch(`${url}/ping`, { headers: { authorization: "Bearer t" } });
    expect(await answer.json()).toEqual({ result: "PONG" });
    front.child.kill(signal);
    expect(await front.ended).toBe(0);
    expect(front.said.stderr).toBe("");
  },
);

test.each([
  [["--token", "t"], /no Redis given/],
  [["--redis-url", "redis://127.0.0.1:1"], /no token given/],
  [["--redis-url", "redis://127.0.0.1:1", "--token", "t"], /cannot reach Redis at 127\.0\.0\.1:1/],
  [["--redis-url", "nonsense", "--token", "t"], /the Redis URL is not redis:/],
  [["--redis-url", "redis://127.0.0.1:1", "--token", "t", "--port", "x"], /--port x is no port/],
])("%j is one line and exit code 1", async (args, why) => {
  const front = start(args);
  expect(await front.ended).toBe(1);
  expect(front.said.stdout).toBe("");
  expect(front.said.stderr).toMatch(/^redis-rest: .*\n$/);
  expect(front.said.stderr).toMatch(why);
});

test.each([
  ["6.0.16", 1],
  ["6.2.14", 1],
  ["7.0.0", undefined],
  ["10.1.2", undefined],
  [undefined, undefined],
])("a Redis that says it is version %s: exit code %s", async (version, code) => {
  const info = version ? `# Server\r\nredis_version:${version}\r\nredis_mode:standalone\r\n` : undefined;
  const redis = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () =>
      socket.write(info ? `$${info.length}\r\n${info}\r\n` : "-NOPERM no permission to run INFO\r\n"),
    );
  });
  await new Promise<void>((resolve) => redis.listen(0, "127.0.0.1", resolve));
  const url = `redis://127.0.0.1:${(redis.address() as AddressInfo).port}`;
  const front = start(["--redis-url", url, "--token", "t", "--port", "0"]);
  try {
    if (code === undefined) {
      await until(() => front.said.stdout.includes("ready"));
      front.child.kill();
      expect(await front.ended).toBe(0);
    } else {
      expect(await front.ended).toBe(code);
      expect(front.said.stderr).toMatch(
        /^redis-rest: Redis at 127\.0\.0\.1:\d+ is version 6\S+, but 7\.0 or newer is needed\n$/,
      );
    }
  } finally {
    redis.close();
  }
});

test("--help explains", async () => {
  const front = start(["--help"]);
  expect(await front.ended).toBe(0);
  expect(front.said.stdout).toContain("--redis-url");
});
