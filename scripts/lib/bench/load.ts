/** How one kind of operation went: per second, and milliseconds an operation took at the median and the 99th percentile. */
export interface Speed {
  count: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/** How often to do it, at how many at once, and how often before that to warm up. */
export interface Load {
  count: number;
  atOnce: number;
  warmUp: number;
}

/** Does an operation `count` times, `atOnce` side by side; `between` runs after the warm-up, before the clock starts. */
export async function measure(
  { count, atOnce, warmUp }: Load,
  operate: (turn: number) => Promise<unknown>,
  between: () => Promise<unknown> = async () => {},
): Promise<Speed> {
  await run(warmUp, atOnce, (turn) => operate(count + turn));
  await between();
  const times: number[] = [];
  const startedAt = performance.now();
  await run(count, atOnce, async (turn) => {
    const sentAt = performance.now();
    await operate(turn);
    times.push(performance.now() - sentAt);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
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
