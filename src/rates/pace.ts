/** The rate an adapting limit has come to, when, and the wait it was made for (absent where nobody knows it). */
export interface Pace {
  rate_per_s: number;
  adjusted_at: number;
  estimated_wait_ms?: number;
}

/** That of a limit which has not adapted yet. */
export const NO_PACE: Pace = { rate_per_s: 0, adjusted_at: 0 };

/** Reads a stored pace; junk counts as none, so that the limit starts again from its configured rate. */
export function parsePace(text: string): Pace {
  const [rate, adjustedAt, , wait] = text.split(" ").map(Number);
  if (!rate || !adjustedAt || !Number.isFinite(rate) || !Number.isSafeInteger(adjustedAt) || rate < 0) {
    return NO_PACE;
  }
  const known = wait !== undefined && Number.isSafeInteger(wait) && wait >= 0;
  return { rate_per_s: rate, adjusted_at: adjustedAt, ...(known ? { estimated_wait_ms: wait } : {}) };
}
