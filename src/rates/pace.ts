/** The rate an adapting limit has come to, since when, and the wait it was made for (absent while nothing drains). */
export interface Pace {
  rate_per_s: number;
  set_at: number;
  estimated_wait_ms?: number;
}

/** That of a limit which has not adapted yet. */
export const NO_PACE: Pace = { rate_per_s: 0, set_at: 0 };

/** A pace as it was found; one that makes no sense counts as none, so that the limit starts from its own rate. */
export function toPace(rate: number, setAt: number, waitMs: number): Pace {
  if (!(rate > 0 && rate <= 1e9) || !Number.isSafeInteger(setAt) || !Number.isSafeInteger(waitMs))
    return NO_PACE;
  return { rate_per_s: rate, set_at: setAt, ...(waitMs >= 0 ? { estimated_wait_ms: waitMs } : {}) };
}

/** Reads a stored pace (limits/adapt.lua). */
export function parsePace(text: string): Pace {
  const [rate = Number.NaN, setAt = Number.NaN, , , waitMs = Number.NaN] = text.split(" ").map(Number);
  return toPace(rate, setAt, waitMs);
}
