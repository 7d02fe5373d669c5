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

/** Runs something so many milliseconds from now without keeping the process alive; gives back how to cancel it. */
export function later(ms: number, run: () => void): () => void {
  const timer: unknown = setTimeout(run, Math.min(Math.max(ms, 0), LONGEST_MS));
  if (typeof timer === "object" && timer !== null && "unref" in timer) (timer as { unref(): void }).unref();
  return () => clearTimeout(timer as number);
}
