import { allowManyListeners } from "./node.ts";

/** A controller that follows other signals until it is unlinked. */
export interface Linked {
  signal: AbortSignal;
  abort(reason: unknown): void;
  unlink(): void;
}

/** Makes a signal that fires with the first of the given ones; `unlink` takes its listeners away again. */
export function linked(...signals: (AbortSignal | undefined)[]): Linked {
  const controller = new AbortController();
  const followed = signals.filter((signal) => signal !== undefined);
  const follow = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  for (const signal of followed) {
    allowManyListeners(signal);
    if (signal.aborted) controller.abort(signal.reason);
    signal.addEventListener("abort", follow, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => {
      for (const signal of followed) signal.removeEventListener("abort", follow);
    },
  };
}

/** The work's result, or a rejection with the signal's reason as soon as it fires, even if the work ignores it. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Resolves when the signal has fired. */
export function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
