const FIRST_MS = 200;
const LONGEST_MS = 10_000;
const LEAST_LEFT_MS = 50;

const doubled = (failures: number) => Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));

/** A hint of the server in milliseconds, made longer by up to a half so that those refused together part. */
export function lengthen(hintMs: number): number {
  return hintMs * (1 + Math.random() * 0.5);
}

/** A pace or a wait in milliseconds, made shorter by up to a fifth so that those who began together part. */
export function shorten(paceMs: number): number {
  return paceMs * (1 - Math.random() * 0.2);
}

/** A backoff in milliseconds of which half is left to chance: so nobody, however lucky, asks many times in a second. */
const jittered = (backoffMs: number) => backoffMs * (0.5 + Math.random() * 0.5);

/**
 * Milliseconds to wait after the n-th failure in a row (n ≥ 1) with so many left, by chance, but never sooner than the
 * server's hint. Undefined when what is left is too short for another try.
 */
export function retryDelayMs(
  failures: number,
  hintMs: number | undefined,
  leftMs: number,
): number | undefined {
  const backoff = jittered(Math.min(doubled(failures), leftMs));
  const delayMs = hintMs === undefined ? backoff : Math.max(backoff, lengthen(hintMs));
  return leftMs < LEAST_LEFT_MS || delayMs >= leftMs ? undefined : delayMs;
}

/**
 * Milliseconds to the next beat after the n-th failure in a row (n ≥ 1), at most `paceMs`: a hint may not cost a
 * lease. A dead coordinator hears no more than two beats a pace.
 */
export function beatDelayMs(failures: number, hintMs: number | undefined, paceMs: number): number {
  const backoff = jittered(Math.min(doubled(failures), paceMs));
  return hintMs === undefined ? backoff : Math.min(paceMs, Math.max(backoff, lengthen(hintMs)));
}
