// One worker of the queue demo, a process of its own.
import { setTimeout as delay } from "node:timers/promises";
import { processInstance } from "../../../src/client/ids.ts";
import { createClient, ProblemError } from "../../../src/client/index.ts";
import { openJournal } from "./journal.ts";
import { type Payload, TASK_KILLED, type WorkerLine } from "./queue-lines.ts";
import { queueCalls } from "./queue-wire.ts";
import { type Delivery, workOnQueue } from "./queue-work.ts";
import { settingsFromParent } from "./settings.ts";

const settings = settingsFromParent();
const write = openJournal<WorkerLine>(settings.file);
const options = { url: settings.url, key: settings.key, timeoutMs: 2_000, deadlineMs: 20_000 };
const queue = queueCalls(options, settings.queue);
const stop = new AbortController();
const FAIL_DELAY_MS = 300;

process.on("SIGTERM", () => stop.abort());
// The parent is gone, so nobody would ever end this process.
process.once("disconnect", () => process.exit(1));

async function handle({ task, signal }: Delivery): Promise<void> {
  const what = { id: task.id, lease: task.lease.id };
  write({ event: "claimed", ...what, delivery: task.delivery });
  const onLost = () => write({ event: "lost", ...what });
  signal.addEventListener("abort", onLost, { once: true });
  const { ms, kind } = task.payload as Payload;
  try {
    await delay(ms, undefined, { signal });
  } catch {
    return;
  }
  if (kind === "fatal") process.exit(TASK_KILLED);
  signal.removeEventListener("abort", onLost);
  try {
    if (kind === "work") await complete(what);
    else await fail(what);
  } catch (error) {
    const refused = error instanceof ProblemError;
    const why = error instanceof Error ? error.message : "unknown";
    write({ event: refused ? "rejected" : "unanswered", ...what, why });
  }
}

async function complete(what: { id: string; lease: string }): Promise<void> {
  write({ event: "completing", ...what });
  const { already } = await queue.complete(what.lease);
  write({ event: "completed", ...what, already });
}

async function fail(what: { id: string; lease: string }): Promise<void> {
  write({ event: "failing", ...what });
  const { state } = await queue.fail({ lease: what.lease, error: "poison", delay_ms: FAIL_DELAY_MS });
  write({ event: "failed", ...what, state });
}

await workOnQueue({
  fleet: createClient(options).fleet(settings.fleet),
  queue,
  identity: { cluster: settings.cluster, pod: settings.name, instance: processInstance() },
  concurrency: 2,
  stop: stop.signal,
  handle,
});
process.exit(0);
