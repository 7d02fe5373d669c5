import type { TakeAnswer } from "./schema.ts";
import type { Take } from "./take.ts";

/** A take as it is told on the wire. */
export function answerOf(take: Take, allowed: boolean): TakeAnswer {
  const { remaining, delay_ms, wait_ms, rate_per_s, shadowed, rate } = take;
  const { estimated_wait_ms } = rate.limit.adapt ? rate.pace : {};
  return {
    allowed,
    remaining,
    delay_ms,
    ...(wait_ms > 0 ? { retry_after_ms: wait_ms } : {}),
    rate_per_s,
    ...(estimated_wait_ms === undefined ? {} : { estimated_wait_ms }),
    ...(shadowed ? { shadowed } : {}),
  };
}
