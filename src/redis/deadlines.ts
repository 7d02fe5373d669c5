/** Bounds trips to the store by a timer each, which ends with its trip: a runtime keeps only so many that still run. */
export interface Deadlines {
  /** For the SDK, which asks for it as it sends. Aborts with a TimeoutError. */
  signal(): AbortSignal;
  /** Runs one trip. */
  within<R>(send: () => Promise<R>): Promise<R>;
}

/** Makes the deadlines of one store; each trip may take `timeoutMs`. */
export function makeDeadlines(timeoutMs: number): Deadlines {
  let started: ReturnType<typeof setTimeout>[] = [];
  return {
    signal() {
      const controller = new AbortController();
      const expire = () =>
        controller.abort(new DOMException("the store did not answer in time", "TimeoutError"));
      started.push(setTimeout(expire, timeoutMs));
      return controller.signal;
    },
    async within(send) {
      started = [];
      const answer = send();
      // The SDK sends before it first waits, so what was started since is this trip's.
      const mine = started;
      started = [];
      try {
        return await answer;
      } finally {
        mine.forEach(clearTimeout);
      }
    },
  };
}
