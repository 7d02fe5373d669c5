import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test, vi } from "vitest";
import { freePort } from "../../scripts/lib/ports.ts";
import { descendants, isAlive, runScript, startDev } from "./dev-process.ts";
import { until } from "./front.ts";

vi.setConfig({ testTimeout: 90_000 });

const data = mkdtempSync(join(tmpdir(), "fleetgate-dev-"));
afterAll(() => rmSync(data, { recursive: true, force: true }));
const args = async () => ["--data", data, "--port", String(await freePort())];
const policy = "/v1/fleets/render/policy";

const allGone = (family: { pid: number }[]) => until(() => !family.some(({ pid }) => isAlive(pid)));
const strike = (family: { pid: number; command: string }[], program: RegExp) => {
  for (const { pid } of family.filter(({ command }) => program.test(command))) process.kill(pid, "SIGKILL");
};
const commandsOf = (family: { command: string }[]) => family.map(({ command }) => command).join("\n");

test("two starts run side by side: one is stopped and leaves no trace, the other one's Redis dies and it says so", async () => {
  const [stopped, struck] = await Promise.all([startDev(await args()), startDev(await args())]);
  for (const dev of [stopped, struck]) {
    expect((await dev.call("/v1/fleets")).status).toBe(200);
    expect(commandsOf(dev.family)).toMatch(/-server /);
    expect(commandsOf(dev.family)).toMatch(/workerd /);
  }
  stopped.child.kill("SIGINT");
  expect(await stopped.ended).toBe(0);
  expect(stopped.said.stderr).toBe("");
  expect(stopped.said.stdout.split("\n")).toHaveLength(2);
  await allGone(stopped.family);

  expect((await struck.call("/v1/fleets")).status).toBe(200);
  strike(struck.family, /-server /);
  expect(await struck.ended).toBe(1);
  expect(struck.said.stderr).toBe("fleetgate dev: Redis ended unexpectedly (SIGKILL)\n");
  await allGone(struck.family);
});

test("the key and the data stay from one start to the next, and --fresh drops the data", async () => {
  const same = await args();
  const paused = async (dev: Awaited<ReturnType<typeof startDev>>) =>
    ((await (await dev.call(policy)).json()) as { paused: boolean }).paused;

  const first = await startDev(same);
  await first.call(policy, { method: "PUT", body: '{"paused":true}' });
  first.child.kill("SIGHUP");
  expect(await first.ended).toBe(0);

  const second = await startDev(same);
  expect(second.key).toBe(first.key);
  expect(await paused(second)).toBe(true);
  second.child.kill("SIGKILL");
  await allGone(second.family);

  const third = await startDev([...same, "--fresh"]);
  expect(third.key).toBe(first.key);
  expect(await paused(third)).toBe(false);
  third.child.kill("SIGTERM");
  await third.ended;
});

test("of two that start at once on one port, one runs with the data, and the other leaves it alone", async () => {
  const same = await args();
  const both = [runScript("dev", [...same, "--fresh"]), runScript("dev", [...same, "--fresh"])];
  const refused = await Promise.race(both.map(async (dev) => ({ dev, code: await dev.ended })));
  expect(refused.code).toBe(1);
  expect(refused.dev.said.stderr).toMatch(/^fleetgate dev: .* is in use( by another start)?\n$/);
  const runs = both.find((dev) => dev !== refused.dev);
  await until(() => runs?.said.stdout.includes("ready") ?? false, 50_000);
  expect(readdirSync(join(data, same.at(-1) ?? "", "redis"))).toContain("appendonlydir");
  runs?.child.kill("SIGTERM");
  expect(await runs?.ended).toBe(0);
});

test("a stop while it is still starting ends what had started", async () => {
  const dev = runScript("dev", await args());
  await until(() => commandsOf(descendants(dev.pid)).includes("-server"));
  const family = descendants(dev.pid);
  dev.child.kill("SIGTERM");
  expect(await dev.ended).toBe(0);
  expect(dev.said.stderr).toBe("");
  await allGone(family);
});

test("a busy port is one line and exit code 1", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  const port = await freePort();
  await new Promise<void>((resolve) => blocker.close(() => blocker.listen(port, "127.0.0.1", resolve)));
  const dev = runScript("dev", ["--data", data, "--port", String(port)]);
  expect(await dev.ended).toBe(1);
  expect(dev.said).toEqual({ stdout: "", stderr: `fleetgate dev: port ${port} is in use\n` });
  blocker.close();
});

test("a store in the environment is used, no Redis is started, and workerd's death is told too", async () => {
  const env = { UPSTASH_REDIS_REST_URL: inject("restUrl"), UPSTASH_REDIS_REST_TOKEN: inject("restToken") };
  const dev = await startDev(await args(), { ...env, FLEETGATE_PREFIX: `dev-test-${process.pid}` });
  expect(commandsOf(dev.family)).not.toMatch(/-server /);
  expect((await dev.call("/v1/fleets")).status).toBe(200);
  strike(dev.family, /workerd serve/);
  expect(await dev.ended).toBe(1);
  expect(dev.said.stderr).toBe("fleetgate dev: workerd ended unexpectedly\n");
  await allGone(dev.family);
});

test.each([
  ["a dead store", "http://127.0.0.1:1", "x"],
  ["a wrong token", inject("restUrl"), "wrong"],
])("%s is told, and the coordinator runs on until it is mended", async (_, url, token) => {
  const dev = await startDev(await args(), { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token });
  await until(() => dev.said.stderr !== "");
  expect(dev.said.stderr).toBe(
    "fleetgate dev: the store does not answer as it should; until it does, calls get 503\n",
  );
  expect((await dev.call("/v1/fleets")).status).toBe(503);
  dev.child.kill("SIGTERM");
  expect(await dev.ended).toBe(0);
});

test.each([
  [["--port", "x"], {}, /^fleetgate dev: --port x is no port\n$/],
  [["--nonsense"], {}, /^fleetgate dev: Unknown option '--nonsense'.*\n$/],
  [[], { UPSTASH_REDIS_REST_URL: "http://127.0.0.1:1" }, /^fleetgate dev: set both .*\n$/],
  [
    [],
    { UPSTASH_REDIS_REST_URL: "redis://x", UPSTASH_REDIS_REST_TOKEN: "t" },
    /REDIS_REST_URL: Invalid.*\n$/,
  ],
  [["--fresh"], { UPSTASH_REDIS_REST_URL: "http://127.0.0.1:1" }, /^fleetgate dev: --fresh forgets .*\n$/],
  [[], { LOG_LEVEL: "loud" }, /^fleetgate dev: the Worker's settings are wrong: LOG_LEVEL: .*\n$/],
])("%j with %j is one line and exit code 1", async (wrong, env, line) => {
  const dev = runScript("dev", [...wrong, ...(wrong.length ? [] : await args())], env);
  expect(await dev.ended).toBe(1);
  expect(dev.said.stdout).toBe("");
  expect(dev.said.stderr).toMatch(line);
});

test.each(["--help", "-h"])("%s explains and starts nothing", async (help) => {
  const dev = runScript("dev", [help]);
  expect(await dev.ended).toBe(0);
  expect(dev.said.stdout).toContain("./scripts/dev [--port 8787] [--fresh]");
});
