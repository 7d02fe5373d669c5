/** One sample of a fleet's history; counts are those of the time since the sample before. */
export interface Sample {
  at: number;
  live: number;
  busy: number;
  capacity: number;
  grants: number;
  denials: number;
  lapsed: number;
}

/** GET /v1/fleets/{fleet}/history. */
export interface History {
  span: string;
  step_ms: number;
  samples: Sample[];
}

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
