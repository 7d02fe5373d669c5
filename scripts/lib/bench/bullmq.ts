import { createClient } from "@redis/client";
import { PAYLOAD } from "./queue-fill.ts";
import type { RawRedis } from "./redis.ts";

/** What of BullMQ is used here (https://docs.bullmq.io); typed here so that the bench runs without it too. */
interface BullMq {
  Queue: new (name: string, options: { connection: unknown }) => BullQueue;
  Worker: new (
    name: string,
    process: () => Promise<void>,
    options: { connection: unknown; concurrency: number; autorun: boolean },
  ) => BullWorker;
  createNodeRedisClient(client: unknown): BullConnection;
}

interface BullConnection {
  on(event: "error", run: () => void): unknown;
  disconnect(): unknown;
}

interface BullWorker {
  on(event: "completed" | "error", run: () => void): unknown;
  run(): Promise<void>;
  close(force: boolean): Promise<void>;
  waitUntilReady(): Promise<unknown>;
}

interface BullQueue {
  add(name: string, data: unknown): Promise<unknown>;
  addBulk(jobs: { name: string; data: unknown }[]): Promise<unknown>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/** A BullMQ queue with a worker whose jobs do nothing. */
export interface BullRig {
  add(): Promise<unknown>;
  /** Lets the worker finish one more job, the oldest; resolves when one is recorded as completed. */
  oneMore(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

const PACKAGE: string = "bullmq";
const BULK = 500;

/** Makes a BullMQ queue in which `waiting` jobs wait, at least `real` of them whole; undefined where it is not installed. */
export async function makeBullRig(
  redisUrl: string,
  redis: RawRedis,
  { name, waiting, real, concurrency }: { name: string; waiting: number; real: number; concurrency: number },
): Promise<BullRig | undefined> {
  const bull = (await import(PACKAGE).catch(() => undefined)) as BullMq | undefined;
  if (!bull) return undefined;
  // The same client as ours, so that queues are compared and not clients.
  const adapters: BullConnection[] = [];
  const connect = () => {
    const client = createClient({ url: redisUrl, RESP: 2, maintNotifications: "disabled" });
    const adapter = bull.createNodeRedisClient(client);
    adapter.on("error", () => {});
    adapters.push(adapter);
    return adapter;
  };
  const queue = new bull.Queue(name, { connection: connect() });
  await queue.waitUntilReady();
  const job = { name: "task", data: PAYLOAD };
  const whole = Math.min(waiting, real);
  for (let from = 0; from < whole; from += BULK)
    await queue.addBulk(Array.from({ length: Math.min(BULK, whole - from) }, () => job));
  // Jobs are taken from the other end of the list, so these are never reached.
  for (let from = whole; from < waiting; from += 10_000) {
    const fillers = Array.from(
      { length: Math.min(10_000, waiting - from) },
      (_, place) => `x${from + place}`,
    );
    await redis.send("LPUSH", `bull:${name}:wait`, ...fillers);
  }

  const permits = makeTurnstile();
  const completions = makeTurnstile();
  const options = { connection: connect(), concurrency, autorun: false };
  const worker = new bull.Worker(name, permits.wait, options);
  worker.on("completed", completions.open);
  worker.on("error", () => {});
  await worker.waitUntilReady();
  return {
    add: () => queue.add(job.name, job.data),
    oneMore: () => {
      permits.open();
      return completions.wait();
    },
    start: () => void worker.run().catch(() => {}),
    async close() {
      await worker.close(true);
      await queue.close();
      // It closes only the connections that it made itself.
      for (const adapter of adapters) await adapter.disconnect();
    },
  };
}

/** Lets one waiter pass for each opening, whichever comes first. */
function makeTurnstile(): { wait(): Promise<void>; open(): void } {
  const waiting: (() => void)[] = [];
  let openings = 0;
  return {
    wait: () =>
      new Promise((resolve) => {
        if (openings > 0) {
          openings--;
          resolve();
        } else waiting.push(resolve);
      }),
    open: () => {
      const next = waiting.shift();
      if (next) next();
      else openings++;
    },
  };
}
