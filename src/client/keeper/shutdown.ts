import { type NodeProcess, nodeProcess } from "../node.ts";
import { sleep } from "../timers.ts";
import type { Pod } from "./types.ts";

/** How a pod ends on SIGTERM. */
export interface ShutdownOptions {
  graceMs?: number | undefined;
  exitAfterLeave?: boolean | undefined;
}

interface Listening extends ShutdownOptions {
  joined: Promise<Pod>;
  ending: boolean;
}

/** Those of this process whom SIGTERM ends; they share one listener, since Node warns of more than ten. */
const listening = new Set<Listening>();

/**
 * From now on SIGTERM drains the pod and then leaves, as soon as it has joined; gives back how to stop listening.
 * Elsewhere than Node: nothing.
 */
export function leaveOnSigterm(joined: Promise<Pod>, options: ShutdownOptions): () => void {
  const process = nodeProcess();
  if (process === undefined) return () => {};
  const { graceMs, exitAfterLeave } = options;
  const one: Listening = { joined, graceMs, exitAfterLeave, ending: false };
  if (listening.size === 0) process.on("SIGTERM", endAll);
  listening.add(one);
  const stop = () => {
    if (listening.delete(one) && listening.size === 0) process.off("SIGTERM", endAll);
  };
  joined.catch(() => {
    stop();
    if (one.ending) raiseAgain(process);
  });
  return stop;
}

async function endAll(): Promise<void> {
  const all = [...listening];
  await Promise.all(all.map(end));
  if (all.some(({ exitAfterLeave }) => exitAfterLeave)) nodeProcess()?.exit(0);
}

async function end(one: Listening): Promise<void> {
  one.ending = true;
  try {
    await finishAndLeave(await one.joined, one.graceMs);
  } catch {
    // It never joined; whoever joined has heard why.
  }
}

/** Ends the process as if nobody had listened, unless somebody else does. */
function raiseAgain(process: NodeProcess): void {
  if (process.listenerCount("SIGTERM") === 0) process.kill(process.pid, "SIGTERM");
}

/** Drains, waits for the work no longer than `graceMs`, and leaves, which gives back what is still held. */
export async function finishAndLeave(pod: Pod, graceMs: number | undefined): Promise<void> {
  await drainFor(pod, graceMs);
  await pod.leave();
}

/** Drains, but waits for the work no longer than `graceMs`. */
async function drainFor(pod: Pod, graceMs: number | undefined): Promise<void> {
  const drained = pod.drain();
  if (graceMs === undefined) return drained;
  const grace = new AbortController();
  const over = sleep(graceMs, grace.signal).catch(() => {});
  await Promise.race([drained, over]);
  grace.abort();
}
