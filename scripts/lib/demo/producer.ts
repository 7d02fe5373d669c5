// One producer of the queue demo: it writes each task down as pending before it asks, and asks again by its id until it
// hears that the task was taken. Started again under its old name, it goes on where its forerunner was killed.
import { setTimeout as delay } from "node:timers/promises";
import { openJournal, readJournal } from "./journal.ts";
import type { DemoTask, Payload, ProducerLine } from "./queue-lines.ts";
import { queueCalls } from "./queue-wire.ts";
import { settingsFromParent } from "./settings.ts";

const settings = settingsFromParent();
const write = openJournal<ProducerLine>(settings.file);
const { url, key } = settings;
const queue = queueCalls({ url, key, timeoutMs: 2_000, deadlineMs: 3_000 }, settings.queue);
const pending = new Map<string, DemoTask>();
const between = (least: number, most: number) => Math.round(least + Math.random() * (most - least));
const LAST_TRIES = 10;

let stopping = false;
process.on("SIGTERM", () => {
  stopping = true;
});
// The parent is gone, so nobody would ever end this process.
process.once("disconnect", () => process.exit(1));

function nextTask(number: number): DemoTask {
  const kind: Payload["kind"] = number % 60 === 30 ? "fatal" : number % 25 === 10 ? "poison" : "work";
  return {
    id: `${settings.name}-${number}`,
    payload: { ms: between(200, 800), kind } satisfies Payload,
    priority: between(0, 9),
    class: number % 5 === 0 ? "high" : "normal",
    delay_ms: number % 20 === 0 ? 1_000 : 0,
    ...(kind === "fatal" && { max_deliveries: 2 }),
  };
}

async function enqueue(task: DemoTask): Promise<void> {
  try {
    const { duplicate } = await queue.enqueue(task);
    pending.delete(task.id);
    write({ event: "accepted", id: task.id, duplicate });
  } catch {
    // It stays pending, and is asked again.
  }
}

function takeOver(forerunner: string): number {
  let made = 0;
  for (const line of readJournal<ProducerLine>(forerunner)) {
    if (line.event === "accepted") pending.delete(line.id);
    else if (line.event === "pending") {
      made++;
      pending.set(line.task.id, line.task);
    }
  }
  for (const task of pending.values()) write({ event: "pending", task });
  return made;
}

let number = settings.forerunner ? takeOver(settings.forerunner) : 0;
while (!stopping) {
  for (const task of pending.values()) await enqueue(task);
  const task = nextTask(number++);
  pending.set(task.id, task);
  write({ event: "pending", task });
  await enqueue(task);
  await delay(between(90, 240));
}
for (let tries = 0; pending.size > 0 && tries < LAST_TRIES; tries++)
  for (const task of pending.values()) await enqueue(task);
process.exit(pending.size === 0 ? 0 : 1);
