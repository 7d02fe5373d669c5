/** What Upstash asks for 100,000 commands, pay as you go: $0.20 (upstash.com/pricing/redis, as of November 2026). */
const UPSTASH_PER_100K = 0.2;
/** What Cloudflare asks for a million requests beyond the 10 million in the $5 of a month (Workers Paid, November 2026). */
const WORKERS_PER_MILLION = 0.3;
const WORKERS_A_MONTH = 5;
const WORKERS_INCLUDED = 10_000_000;

/** Hours of a month, as clouds count them. */
export const MONTH_HOURS = 730;

/** Dollars a month for so many commands, on a database of one region. */
export const upstashDollars = (commands: number): number => (commands / 100_000) * UPSTASH_PER_100K;

/** Dollars a month for so many requests; CPU time beyond the included is left out. */
export const workersDollars = (requests: number): number =>
  WORKERS_A_MONTH + (Math.max(0, requests - WORKERS_INCLUDED) / 1e6) * WORKERS_PER_MILLION;
