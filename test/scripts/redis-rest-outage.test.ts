import { expect, test } from "vitest";
import { startRedisRest } from "../../scripts/redis-rest.ts";
import { startFront, until } from "./front.ts";

const { redis, post } = await startFront({ answerTimeoutMs: 300 });

test("Redis killed: 503 at once, and answers again when it is back", async () => {
  await redis.kill();
  await until(async () => (await post("/", ["PING"])).status === 503);
  const before = performance.now();
  const answers = [
    await post("/", ["PING"]),
    await post("/pipeline", [["PING"]]),
    await post("/multi-exec", [["PING"]]),
  ];
  expect(performance.now() - before).toBeLessThan(500);
  for (const { status, body } of answers) {
    expect(status).toBe(503);
    expect(body.error).toMatch(/connection to Redis/);
  }
  await redis.restart();
  await until(async () => (await post("/", ["PING"])).status === 200);
});

test("Redis killed under a running call: that call hears of it", async () => {
  process.kill(redis.pid, "SIGSTOP");
  const running = post("/", ["PING"]);
  await redis.kill();
  expect(await running).toMatchObject({
    status: 503,
    body: { error: expect.stringMatching(/connection to Redis/) },
  });
  await redis.restart();
  await until(async () => (await post("/", ["PING"])).status === 200);
});

test("a Redis that hangs: 503 after the timeout, and answers again when it goes on", async () => {
  process.kill(redis.pid, "SIGSTOP");
  const hanging = await post("/", ["PING"]);
  process.kill(redis.pid, "SIGCONT");
  expect(hanging).toMatchObject({ status: 503, body: { error: "ERR Redis did not answer within 300 ms" } });
  await until(async () => (await post("/", ["PING"])).status === 200);
});

test("no Redis at the start is an error that names its host and not its password", async () => {
  const start = startRedisRest({ redisUrl: "redis://user:secret@127.0.0.1:1", token: "t" });
  await expect(start).rejects.toThrow(/cannot reach Redis at 127\.0\.0\.1:1/);
  await expect(start).rejects.not.toThrow(/secret/);
});
