import { TOTALS_TTL_MS } from "../leases/tallies.ts";

/** How far back a history is asked for, and how coarse it then is. */
export const SPANS = {
  "1h": { span_ms: 3_600_000, ring: "minutes" },
  "24h": { span_ms: 86_400_000, ring: "minutes" },
  "30d": { span_ms: 30 * 86_400_000, ring: "quarters" },
} as const;
export type Span = keyof typeof SPANS;

/** Each ring has a few places more than its span, so that the oldest sample of a span has one before it. */
const RINGS = {
  minutes: { letter: "m", step_ms: 60_000, size: 1_450 },
  quarters: { letter: "q", step_ms: 900_000, size: 2_890 },
} as const;

const placeAt = ({ letter, step_ms, size }: (typeof RINGS)[keyof typeof RINGS], at: number) =>
  `${letter}${Math.floor(at / step_ms) % size}`;

/** Where the sample taken at `now` is kept, the later of two in one step staying; it renews the key now and then. */
export function placesOf(now: number) {
  const renews = Math.floor(now / RINGS.minutes.step_ms) % 15 === 0;
  return {
    minute: placeAt(RINGS.minutes, now),
    quarter: placeAt(RINGS.quarters, now),
    key_ttl_ms: TOTALS_TTL_MS,
    renew: renews ? 1 : 0,
  };
}

/** The places a span takes up, oldest first, with one before it; samples older than `since` are of a former round. */
export function placesOfSpan(
  span: Span,
  now: number,
): { step_ms: number; places: string[]; from: number; since: number } {
  const { span_ms, ring } = SPANS[span];
  const { step_ms } = RINGS[ring];
  const count = span_ms / step_ms;
  const places = Array.from({ length: count + 1 }, (_, at) =>
    placeAt(RINGS[ring], now - (count - at) * step_ms),
  );
  const from = (Math.floor(now / step_ms) - count + 1) * step_ms;
  return { step_ms, places, from, since: from - step_ms };
}
