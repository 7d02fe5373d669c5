import { expect, test, vi } from "vitest";
import { descendants, isAlive, runScript } from "./dev-process.ts";
import { until } from "./front.ts";

vi.setConfig({ testTimeout: 120_000 });

const allGone = (family: { pid: number }[]) => until(() => !family.some(({ pid }) => isAlive(pid)));
const podsOf = (pid: number) => descendants(pid).filter(({ command }) => command.includes("demo/pod.ts"));

/** Starts a demo and waits for a word of it; throws what it said instead. */
async function demoThatSaid(word: string) {
  const demo = runScript("demo", ["--seconds", "12"]);
  let hasEnded = false;
  demo.ended.then(() => {
    hasEnded = true;
  });
  await until(() => hasEnded || demo.said.stdout.includes(word), 90_000);
  if (!demo.said.stdout.includes(word))
    throw new Error(`the demo said: ${demo.said.stdout}${demo.said.stderr}`);
  return demo;
}

test("a short demo scales, kills, restarts and drains real processes, and finds the gate kept", async () => {
  const demo = runScript("demo", ["--seconds", "12", "--json"]);
  const status = await demo.ended;
  expect(demo.said.stderr).toMatch(/Redis hangs for .* \(SIGSTOP\)\n/);
  const verdict = JSON.parse(demo.said.stdout);
  expect(verdict).toMatchObject({ breaches: [], leaks: { live: 0, busy: 0 } });
  expect(verdict.processes).toBeGreaterThanOrEqual(20);
  expect(verdict.finished).toBeGreaterThan(0);
  expect(verdict.mostHeld.held).toBeLessThanOrEqual(verdict.mostHeld.capacity);
  expect(status).toBe(0);
});

test("a short demo of a queue accounts for every task", async () => {
  const demo = runScript("demo", ["--seconds", "12", "--queue"]);
  const status = await demo.ended;
  const [, enqueued, completed, dead] =
    /account +(\d+) enqueued = (\d+) completed \+ (\d+) dead/.exec(demo.said.stdout) ?? [];
  expect(demo.said.stdout).toMatch(/verdict +good: nothing was breached\n$/);
  expect(Number(enqueued)).toBeGreaterThan(0);
  expect(Number(completed) + Number(dead)).toBe(Number(enqueued));
  expect(status).toBe(0);
});

test("Ctrl-C ends it with every process it started, also while its Redis stands still", async () => {
  const demo = await demoThatSaid("SIGSTOP");
  const family = descendants(demo.pid);
  expect(podsOf(demo.pid).length).toBeGreaterThan(5);
  demo.child.kill("SIGINT");
  expect(await demo.ended).toBe(130);
  expect(demo.said.stderr).toBe("fleetgate demo: ended by SIGINT\n");
  await allGone(family);
});

test("pods end by themselves when the demo is killed", async () => {
  const demo = await demoThatSaid("pods have joined");
  const pods = podsOf(demo.pid);
  demo.child.kill("SIGKILL");
  await allGone(pods);
});

test.each([
  [["--seconds", "5"], /^fleetgate demo: --seconds 5 is not a number from 12 to 3600\n$/],
  [["--url", "http://127.0.0.1:1"], /^fleetgate demo: give both --url and --key, or neither\n$/],
  [["--nonsense"], /^fleetgate demo: Unknown option '--nonsense'.*\n$/],
])("%j is one line and exit code 1", async (wrong, line) => {
  const demo = runScript("demo", wrong);
  expect(await demo.ended).toBe(1);
  expect(demo.said.stdout).toBe("");
  expect(demo.said.stderr).toMatch(line);
});

test("a coordinator that cannot be reached is one line and exit code 1", async () => {
  const demo = runScript("demo", ["--url", "http://127.0.0.1:1", "--key", "fg_x"]);
  expect(await demo.ended).toBe(1);
  expect(demo.said.stderr).toMatch(/^fleetgate demo: No answer from the coordinator .*\n$/);
});

test("--help explains and starts nothing", async () => {
  const demo = runScript("demo", ["--help"]);
  expect(await demo.ended).toBe(0);
  expect(demo.said.stdout).toContain("./scripts/demo [--url URL --key KEY]");
});
