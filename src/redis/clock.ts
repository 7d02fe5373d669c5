/** The one clock of all decisions: Redis's, in epoch milliseconds. */
export interface Clock {
  /** Redis's time now. Throws StoreUnavailable when it was never learnt and cannot be. */
  now(): Promise<number>;
  /** This isolate's own time, for the age of what it remembers; never sent to Redis. */
  local(): number;
  /** Waits `ms`, or less when the signal aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface ClockOptions {
  /** Asks Redis for its TIME, in milliseconds. */
  time(): Promise<number>;
  /** Lets work go on after the answer, as `waitUntil` does. */
  defer(work: Promise<unknown>): void;
  local?: () => number;
}

const REFRESH_MS = 60_000;
const RETRY_MS = 5_000;
/** Concurrent requests may see the isolate's time stand still for so long; more is a clock that was set back. */
const STANDSTILL_MS = 1_000;

/**
 * Keeps the offset between Redis's clock and this isolate's, so that reading the time costs no command.
 * Asked once when first needed, refreshed in the background once it is 60 s old.
 */
export function makeClock({ time, defer, ...options }: ClockOptions): Clock {
  const local = steady(options.local ?? Date.now);
  let offset: number | undefined;
  let refreshAt = 0;

  async function learn(): Promise<number> {
    const sent = local();
    const there = await time();
    const heard = local();
    refreshAt = heard + REFRESH_MS;
    offset = Math.round(there - (sent + heard) / 2);
    return offset;
  }

  return {
    local,
    sleep,
    async now() {
      if (offset === undefined) {
        const learnt = await learn();
        // The local time is read after the wait, not before it.
        return local() + learnt;
      }
      if (local() >= refreshAt) {
        refreshAt = local() + RETRY_MS;
        defer(learn().catch(() => undefined));
      }
      return local() + offset;
    },
  };
}

/** A clock that goes on where its source is set back: else all that is remembered until a time would outlive it. */
function steady(source: () => number): () => number {
  let latest = 0;
  let setBack = 0;
  return () => {
    const at = source();
    if (at + setBack < latest - STANDSTILL_MS) setBack = latest - at;
    latest = Math.max(latest, at + setBack);
    return at + setBack;
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
