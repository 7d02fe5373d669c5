import { createClient, type StatusAnswer } from "../../../src/client/index.ts";
import type { QueueAnswer } from "../../../src/queues/schema.ts";
import { type Account, drawUpAccount } from "./account.ts";
import type { Coordinator } from "./coordinator.ts";
import { makeCrew } from "./crew.ts";
import { readJournal } from "./journal.ts";
import type { ProducerLine, QueueEntry } from "./queue-lines.ts";
import { countLines, queueTable } from "./queue-table.ts";
import { type QueueCalls, queueCalls } from "./queue-wire.ts";
import { CLUSTERS, restart, scale } from "./scale.ts";
import { play, type Step, workerSteps } from "./scenario.ts";
import type { Screen } from "./screen.ts";
import { activeTime, keepDrawing, type Stage, until } from "./stage.ts";

/** What a demo of a queue found out. */
export interface QueueVerdict extends Account {
  processes: number;
  leaks: { live: number; busy: number; in_flight: number };
}

const POLICY = { ttl_ms: 3_000, heartbeat_ms: 1_000, lease_ttl_ms: 3_000 };
const WORKER = "./worker.ts";
const PRODUCER = "./producer.ts";
const PRODUCERS = "shop";
/** Working off what is left, and leaving. */
const ENDING_MS = 9_000;
const WORK_OFF_MS = 40_000;

/** Runs producers and workers as processes over one queue, hurts them, and accounts for every task. */
export async function runQueueDemo(
  { url, key, outages }: Coordinator,
  stage: Stage,
  screen: Screen,
): Promise<QueueVerdict> {
  const { name, dir, signal } = stage;
  const options = { url, key, timeoutMs: 2_000, deadlineMs: 5_000 };
  const fleet = createClient(options).fleet(name);
  const queue = queueCalls(options, name);
  await fleet.putPolicy(POLICY);
  await queue.configure({ fleet: name, lease_ttl_ms: POLICY.lease_ttl_ms, max_deliveries: 4 });
  const crew = makeCrew(dir, { url, key, fleet: name, queue: name }, ({ cluster, name: worker }) =>
    crew.start(WORKER, cluster, worker),
  );
  const counts = countLines(crew);
  const look = async (): Promise<[StatusAnswer?, QueueAnswer?]> =>
    Promise.all([fleet.status({ retry: false }), queue.status()]).catch(() => []);
  const stopDrawing = keepDrawing(async () => {
    const [pods, tasks] = await look();
    screen.table(queueTable(crew, pods, tasks, counts()));
  });
  try {
    for (const [cluster, count] of Object.entries(CLUSTERS)) scale(crew, WORKER, cluster, count);
    scale(crew, PRODUCER, PRODUCERS, 2);
    await until(async () => (await look())[0]?.live === 12, 20_000, signal);
    screen.event("12 workers and 2 producers have started, each a process of its own");

    const activeMs = activeTime(stage, ENDING_MS);
    const producing: Step[] = [
      {
        at: 0.15,
        say: "a producer is killed and starts again: it asks for what was pending",
        run: () => restart(crew, PRODUCER, PRODUCERS),
      },
      {
        at: 0.9,
        say: "the producers get SIGTERM: what is pending is still handed in",
        run: () => scale(crew, PRODUCER, PRODUCERS, 0),
      },
    ];
    const steps = [...workerSteps(crew, WORKER, activeMs, outages), ...producing];
    await play(steps, activeMs, signal, screen.event);
    screen.event("the workers work off what is left");
    await until(async () => isIdle((await look())[1]), WORK_OFF_MS, signal).catch(() => {});
    for (const member of crew.running()) crew.end(member, "SIGTERM");
    const late = await crew.disband(15_000);
    await until(async () => (await look())[0]?.busy === 0, POLICY.ttl_ms + 1_500, signal).catch(() => {});

    const [{ live, busy }, { in_flight }] = await Promise.all([fleet.status(), queue.status()]);
    const trails = crew.records().map((one) => ({ ...one, entries: readJournal<QueueEntry>(one.file) }));
    const account = drawUpAccount(
      trails,
      await statesOf(
        queue,
        trails.flatMap((trail) => trail.entries),
      ),
    );
    const breaches = [...account.breaches, ...crew.failures()];
    for (const { record } of late) breaches.push(`${record.cluster}/${record.name} did not end in time`);
    if (live + busy + in_flight > 0)
      breaches.push(`left: ${live} pods, ${busy} slots, ${in_flight} in flight`);
    return { ...account, breaches, processes: trails.length, leaks: { live, busy, in_flight } };
  } finally {
    await stopDrawing();
    for (const member of crew.running()) crew.end(member, "SIGKILL");
    await crew.disband(2_000);
  }
}

const isIdle = (queue: { backlog: number; delayed: number } | undefined) =>
  queue?.backlog === 0 && queue.delayed === 0;

/** Asks the coordinator for the state of every task that a producer wrote down. */
async function statesOf(queue: QueueCalls, entries: QueueEntry[]): Promise<Map<string, string>> {
  const pending = entries.filter((line): line is QueueEntry & ProducerLine => line.event === "pending");
  const ids = new Set(pending.flatMap((line) => (line.event === "pending" ? [line.task.id] : [])));
  const states = new Map<string, string>();
  for (const id of ids) {
    const state = await queue.task(id).catch(() => undefined);
    if (state) states.set(id, state.state);
  }
  return states;
}
