import { sleep } from "../timers.ts";
import { nodeProcess } from "./node.ts";
import type { Pod } from "./types.ts";

/** How a pod ends on SIGTERM. */
export interface ShutdownOptions {
  graceMs?: number | undefined;
  exitAfterLeave?: boolean | undefined;
}

/** From now on SIGTERM drains the pod and then leaves; gives back how to stop listening. Elsewhere than Node: nothing. */
export function leaveOnSigterm(pod: Pod, options: ShutdownOptions): () => void {
  const process = nodeProcess();
  if (process === undefined) return () => {};
  const run = async () => {
    await finishAndLeave(pod, options.graceMs);
    if (options.exitAfterLeave) process.exit(0);
  };
  process.on("SIGTERM", run);
  return () => process.off("SIGTERM", run);
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
