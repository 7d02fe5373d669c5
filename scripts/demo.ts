import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { nowMs } from "./lib/demo/clock.ts";
import { type Coordinator, findCoordinator } from "./lib/demo/coordinator.ts";
import { runFleetDemo } from "./lib/demo/fleet-demo.ts";
import { runQueueDemo } from "./lib/demo/queue-demo.ts";
import { fleetReport, queueReport } from "./lib/demo/report.ts";
import { makeScreen } from "./lib/demo/screen.ts";

const HELP = `fleetgate demo: the main job on real processes, with a verdict

  ./scripts/demo [--url URL --key KEY] [--seconds 60] [--queue] [--json]

  --url, --key  a running coordinator and a key with the scope admin; without them it starts one of its own
  --seconds     how long it takes in all (default 60, at least 12)
  --queue       tasks from a queue instead of bare slots, and the account of every task
  --json        the verdict as JSON on standard output; what happens meanwhile goes to standard error

Pods of three clusters, each a process, take slots, are scaled, killed, restarted and drained, and the coordinator's
Redis hangs and crashes (left out with --url). What they wrote down themselves is then held against what was allowed.
It exits with 0 when nothing was wrong, 1 on any breach, 130 on Ctrl-C.
`;

const LEAST_SECONDS = 12;
const interrupt = new AbortController();

function readOptions() {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      key: { type: "string" },
      seconds: { type: "string", default: "60" },
      queue: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const { url, key } = values;
  const seconds = Number(values.seconds);
  if (!(seconds >= LEAST_SECONDS && seconds <= 3_600))
    throw new Error(`--seconds ${values.seconds} is not a number from ${LEAST_SECONDS} to 3600`);
  if (!url !== !key) throw new Error("give both --url and --key, or neither");
  return { ...values, seconds, given: url && key ? { url, key } : undefined };
}

async function main() {
  const options = readOptions();
  if (options.help) return void process.stdout.write(HELP);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => interrupt.abort(new Error(`ended by ${signal}`)));
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-demo-"));
  let coordinator: Coordinator | undefined;
  let isGood = false;
  try {
    const die = (why: string) => interrupt.abort(new Error(why));
    coordinator = await findCoordinator(options.given, join(dir, "coordinator"), interrupt.signal, die);
    interrupt.signal.throwIfAborted();
    isGood = await show(coordinator, dir, options);
  } finally {
    await coordinator?.stop();
    const hasTrails = readdirSync(dir).some((file) => file.endsWith(".jsonl"));
    if (isGood || interrupt.signal.aborted || !hasTrails) rmSync(dir, { recursive: true, force: true });
    else console.error(`what each process wrote down: ${dir}`);
  }
  process.exitCode = isGood ? 0 : 1;
}

/** Plays the demo and prints its verdict; gives whether nothing was wrong. */
async function show(coordinator: Coordinator, dir: string, options: ReturnType<typeof readOptions>) {
  const { seconds, json } = options;
  const startedAt = nowMs();
  const screen = makeScreen(json ? process.stderr : process.stdout, startedAt);
  const name = `demo-${Date.now().toString(36)}`;
  const stage = { name, dir, startedAt, seconds, signal: interrupt.signal };
  screen.event(`the coordinator answers at ${coordinator.url}`);
  const [verdict, lines] = await judge().finally(screen.close);
  const { breaches } = verdict;
  if (json) console.log(JSON.stringify(verdict));
  else {
    for (const line of lines) console.log(line);
    for (const breach of breaches) console.log(`BREACH           ${breach}`);
    console.log(
      breaches.length === 0 ? "verdict          good: nothing was breached" : "verdict          BREACHED",
    );
  }
  return breaches.length === 0;

  async function judge(): Promise<[{ breaches: string[] }, string[]]> {
    if (options.queue) {
      const verdict = await runQueueDemo(coordinator, stage, screen);
      return [verdict, queueReport(verdict)];
    }
    const verdict = await runFleetDemo(coordinator, stage, screen);
    return [verdict, fleetReport(verdict)];
  }
}

main().catch((error: Error) => {
  const { aborted, reason } = interrupt.signal;
  console.error(`fleetgate demo: ${aborted ? (reason as Error).message : error.message}`);
  process.exitCode = aborted && /^ended by/.test((reason as Error).message) ? 130 : 1;
});
