import { setTimeout as delay } from "node:timers/promises";

import { nowMs } from "./clock.ts";

/** Where and how long a demo plays; `name` is that of its fleet and queue, `signal` ends it early. */
export interface Stage {
  name: string;
  dir: string;
  startedAt: number;
  seconds: number;
  signal: AbortSignal;
}

const DRAW_EVERY_MS = 500;
const LEAST_ACTIVE_MS = 5_000;

/** What is left of a stage's time before its last `endingMs`, in milliseconds. */
export function activeTime({ startedAt, seconds }: Stage, endingMs: number): number {
  return Math.max(LEAST_ACTIVE_MS, startedAt + seconds * 1_000 - endingMs - nowMs());
}

/** Draws again and again; gives what ends that, and waits for a drawing under way. */
export function keepDrawing(draw: () => Promise<void>): () => Promise<void> {
  const ending = new AbortController();
  const drawing = (async () => {
    while (!ending.signal.aborted) {
      await draw();
      await delay(DRAW_EVERY_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  return () => {
    ending.abort();
    return drawing;
  };
}

/** Waits until `check` holds; rejects after `timeoutMs`, or when the signal fires. */
export async function until(
  check: () => Promise<boolean>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error("what was waited for did not come about in time");
    await delay(100, undefined, { signal });
  }
}
