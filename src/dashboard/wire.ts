/** GET /v1/limits/{limit}. */
export interface Limit {
  algorithm: "token_bucket" | "leaky_bucket";
  capacity: number;
  refill_per_s?: number;
  leak_per_s?: number;
  shadow: boolean;
}

/** GET /v1/limits/{limit}/keys/{key}. */
export interface Level {
  allowed: boolean;
  remaining: number;
  delay_ms: number;
  retry_after_ms?: number;
  rate_per_s: number;
}
