import { CallFailed } from "./api.ts";

const EVERY_MS = 2_000;
const SLOWEST_MS = 8_000;

/** Asks again and again while the tab is seen. */
export interface Poll {
  /** Asks at once, dropping what is under way. */
  now(): void;
  stop(): void;
}

/**
 * Runs `ask` every 2 s, one at a time, never in a hidden tab, and more slowly while it fails.
 * `told` hears after each run: nothing when it went well, otherwise what it threw.
 */
export function startPoll(
  ask: (signal: AbortSignal) => Promise<void>,
  told: (error?: unknown) => void,
): Poll {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = new AbortController();
  let failures = 0;

  async function run() {
    clearTimeout(timer);
    running.abort();
    if (document.hidden) return;
    const mine = new AbortController();
    running = mine;
    let failure: { error: unknown } | undefined;
    try {
      await ask(mine.signal);
    } catch (error) {
      failure = { error };
    }
    if (mine.signal.aborted) return;
    failures = failure?.error instanceof CallFailed && failure.error.isOutage ? failures + 1 : 0;
    timer = setTimeout(run, Math.min(SLOWEST_MS, EVERY_MS * 2 ** Math.max(0, failures - 2)));
    told(failure?.error);
  }

  const stop = () => {
    clearTimeout(timer);
    running.abort();
    document.removeEventListener("visibilitychange", run);
  };
  document.addEventListener("visibilitychange", run);
  run();
  return { now: run, stop };
}
