/** When a refused caller should come back: 250·2^min(attempt, 5) × 1…1.25, whole milliseconds (PROTOCOL). */
export function retryAfterMs(attempt: number, random: () => number = Math.random): number {
  return Math.round(250 * 2 ** Math.min(attempt, 5) * (1 + random() / 4));
}

/** The most polls one waiting call may make (DESIGN 4.5). */
export const MAX_POLLS = 40;

/** Pause before poll number `poll` of a waiting call, in ms: 100 ms growing to a second, so 40 span 25 s. */
export function pollPauseMs(poll: number, random: () => number = Math.random): number {
  return Math.round(Math.min(900, 100 * 1.25 ** poll) * (1 + random() / 4));
}
