/** How one kind of operation went: per second, and milliseconds an operation took at the median and the 99th percentile. */
export interface Speed {
  count: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/** How long to do it, at how many at once, and for how long before that to warm up. Times in milliseconds. */
export interface Load {
  forMs: number;
  atOnce: number;
  warmUpMs: number;
}

/** Does an operation for a time, `atOnce` side by side; `between` runs after the warm-up, before the clock starts. */
export async function measure(
  { forMs, atOnce, warmUpMs }: Load,
  operate: (turn: number) => Promise<unknown>,
  between: () => Promise<unknown> = async () => {},
): Promise<Speed> {
  await runFor(warmUpMs, atOnce, operate);
  await between();
  const times: number[] = [];
  const startedAt = performance.now();
  await runFor(forMs, atOnce, async (turn) => {
    const sentAt = performance.now();
    await operate(turn);
    times.push(performance.now() - sentAt);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const count = times.length;
  times.sort((one, other) => one - other);
  return { count, perSecond: count / seconds, p50Ms: at(times, 0.5), p99Ms: at(times, 0.99) };
}

/** The value below which that share of sorted values lies. */
export function at(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Runs turns 0 … count - 1, so many at once, each as soon as one before it has ended. */
export async function run(
  count: number,
  atOnce: number,
  turnOf: (turn: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await turnOf(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}

/** Runs turns 0, 1, 2 … for a time in milliseconds, so many at once; those under way at its end are waited for. */
async function runFor(ms: number, atOnce: number, turnOf: (turn: number) => Promise<unknown>): Promise<void> {
  const end = performance.now() + ms;
  let next = 0;
  const lane = async () => {
    while (performance.now() < end) await turnOf(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
