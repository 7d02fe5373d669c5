// One pod of the demo, a process of its own: it takes slots, works for as long as a task takes, and gives them back.
import { setTimeout as delay } from "node:timers/promises";
import {
  type Client,
  createClient,
  type Lease,
  NotGrantedError,
  type Pod,
  PodClosedError,
  UnavailableError,
} from "../../../src/client/index.ts";
import { openJournal } from "./journal.ts";
import type { PodLine } from "./lines.ts";
import { recordingFetch } from "./recording-fetch.ts";
import { settingsFromParent } from "./settings.ts";

const TASKS_AT_ONCE = 2;
const HIGH_SHARE = 0.3;
const JOIN_TRIES = 20;

const { url, key, fleet, cluster, name, file, onUnavailable } = settingsFromParent();
const write = openJournal<PodLine>(file);
const between = (least: number, most: number) => least + Math.random() * (most - least);

async function main() {
  write({ event: "started", cluster, pod: name, pid: process.pid });
  const client = createClient({ url, key, fetch: recordingFetch(write), timeoutMs: 2_000 });
  const pod = await join(client);
  pod.closing.addEventListener("abort", () => write({ event: "closing", why: pod.state }));
  await Promise.all(Array.from({ length: TASKS_AT_ONCE }, () => work(pod)));
  write({ event: "left", how: await pod.leave() });
  process.exit(0);
}

/** A pod that must not go on without the coordinator tries again until it has joined. */
async function join(client: Client): Promise<Pod> {
  for (let tries = 1; ; tries++) {
    try {
      const options = { cluster, pod: name, onUnavailable, unavailableAfterMs: 1_000 };
      return await client.fleet(fleet).join(options);
    } catch (error) {
      if (!(error instanceof UnavailableError) || tries === JOIN_TRIES) throw error;
    }
  }
}

async function work(pod: Pod): Promise<void> {
  while (!pod.closing.aborted) {
    const wanted = Math.random() < HIGH_SHARE ? "high" : "normal";
    try {
      await doTask(await pod.acquire({ class: wanted, waitMs: between(1_000, 6_000) }));
    } catch (error) {
      if (error instanceof PodClosedError) return;
      if (!(error instanceof NotGrantedError || error instanceof UnavailableError)) throw error;
      write({ event: "refused", class: wanted, why: error.code });
    }
    await delay(between(0, 200));
  }
}

async function doTask(lease: Lease): Promise<void> {
  write({ event: "granted", lease: lease.id, class: lease.class, degraded: lease.degraded });
  const onLost = () =>
    write({ event: "lost", lease: lease.id, why: String(lease.signal.reason?.reason ?? "unknown") });
  lease.signal.addEventListener("abort", onLost, { once: true });
  try {
    await delay(between(300, 3_500), undefined, { signal: lease.signal });
  } catch {
    return;
  }
  lease.signal.removeEventListener("abort", onLost);
  write({ event: "releasing", lease: lease.id });
  write({ event: "released", lease: lease.id, how: await lease.release() });
}

// The parent is gone, so nobody would ever end this process.
process.once("disconnect", () => process.exit(1));
await main();
