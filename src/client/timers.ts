import { monotonicMs } from "./clock.ts";

/** From so late on a timer tells of a blocked event loop. Both in milliseconds. */
const LATE_MS = 100;
/** What is given then to hear what came meanwhile, or to send what had not gone out yet. */
const HEARING_MS = 1_000;

/** The longest a timer can run, in milliseconds; a longer one would fire at once. */
const LONGEST_MS = 2_147_483_647;

/** Waits so many milliseconds; rejects with the signal's reason when it fires first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      },
      Math.min(ms, LONGEST_MS),
    );
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * Runs something when so many milliseconds have passed without an answer, unless cancelled. Those in which the event loop
 * was blocked (or the process stopped) prove nothing: timers run before what arrived meanwhile is read.
 */
export function unlessHeard(ms: number, run: () => void): () => void {
  const dueAt = monotonicMs() + ms;
  const judge = () => {
    if (monotonicMs() - dueAt < LATE_MS) run();
    else timer = setTimeout(run, HEARING_MS);
  };
  let timer = setTimeout(judge, Math.min(ms, LONGEST_MS));
  return () => clearTimeout(timer);
}

/** Runs something so many milliseconds from now without keeping the process alive; gives back how to cancel it. */
export function later(ms: number, run: () => void): () => void {
  const timer: unknown = setTimeout(run, Math.min(Math.max(ms, 0), LONGEST_MS));
  if (typeof timer === "object" && timer !== null && "unref" in timer) (timer as { unref(): void }).unref();
  return () => clearTimeout(timer as number);
}
