import { setRate } from "../rates/schema.ts";
import type { Take } from "./take.ts";

/**
 * The headers of a take: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10: quota q per
 * window w, r remaining, t seconds until the quota is whole again), and `Retry-After` for one that was refused.
 */
export function rateHeaders(takes: readonly Take[], retryAfterMs?: number): Record<string, string> {
  const policies = takes.map(({ rate: { name, limit } }) => {
    const window = Math.max(1, Math.ceil(limit.capacity / setRate(limit)));
    return `"${name}";q=${Math.floor(limit.capacity)};w=${window}`;
  });
  const states = takes.map(({ rate: { name, limit }, remaining, rate_per_s, wait_ms }) => {
    // Of a bucket in debt nothing remains, and only its wait tells how deep it is.
    const seconds = Math.max(0, (limit.capacity - remaining) / rate_per_s, wait_ms / 1_000);
    return `"${name}";r=${Math.floor(remaining)};t=${Math.ceil(seconds)}`;
  });
  return {
    ratelimit: states.join(", "),
    "ratelimit-policy": policies.join(", "),
    ...(retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) }),
  };
}
