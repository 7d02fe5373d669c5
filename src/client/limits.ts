import type {
  LimitAnswer,
  LimitCall,
  LimitsAnswer,
  SettleAnswer,
  SettleCall,
  TakeAnswer,
  TakeCall,
  TakesAnswer,
  TakesCall,
} from "../limits/schema.ts";
import { has, type Send, segment } from "./call.ts";
import { newRequestId } from "./ids.ts";
import type { CallOptions } from "./options.ts";

/** The calls of one limit, each in the wire's own shapes. All may throw ProblemError and UnavailableError. */
export type Limit = ReturnType<typeof limitCalls>;

/** The rooms' part of the client that speaks of limits. */
export interface LimitsRoom {
  /** The calls of one limit; sends nothing by itself. */
  limit(name: string): Limit;
  /** Every limit heard of in the last 24 hours, with its rules and the level of its key `default`. */
  limits(options?: CallOptions): Promise<LimitsAnswer>;
  /** Takes from several limits, from all or from none; a missing `request_id` is made here as for one take. */
  take(body: TakesCall, options?: CallOptions): Promise<TakesAnswer>;
}

/** Makes the limits' part of the client. */
export function limitsRoom(send: Send): LimitsRoom {
  return {
    limit: (name) => limitCalls(send, name),
    limits: (options) =>
      send<LimitsAnswer>(
        { method: "GET", path: "/v1/limits", accepts: (answer) => has(answer, { limits: "array" }) },
        options,
      ),
    take: (body, options) =>
      send<TakesAnswer>(
        {
          method: "POST",
          path: "/v1/take",
          body: repeatable(body, options),
          accepts: (answer) => has(answer, { allowed: "boolean", takes: "array" }),
        },
        options,
      ),
  };
}

/** Binds the calls of section Limits of the wire contract to one limit. */
function limitCalls(send: Send, name: string) {
  const base = `/v1/limits/${segment(name)}`;
  return {
    name,

    /** The limit's configuration. */
    get: (options?: CallOptions) =>
      send<LimitAnswer>({ method: "GET", path: base, accepts: isLimit }, options),

    /** Sets the limit; a change applies to every key of it from then on. */
    put: (body: LimitCall, options?: CallOptions) =>
      send<LimitAnswer>({ method: "PUT", path: base, body, accepts: isLimit }, options),

    /** Removes the limit. */
    delete: (options?: CallOptions) =>
      send<{ deleted: boolean }>(
        { method: "DELETE", path: base, accepts: (answer) => has(answer, { deleted: "boolean" }) },
        options,
      ),

    /**
     * Takes from one key; a refusal is an answer (`allowed: false`). A missing `request_id` is made here and kept over
     * retries, so that no retry takes twice; with `retry: false` none is made, which costs the store a command less.
     */
    take: (body: TakeCall = {}, options?: CallOptions) =>
      send<TakeAnswer>(
        { method: "POST", path: `${base}/take`, body: repeatable(body, options), accepts: isTake },
        options,
      ),

    /** Corrects a take by what it really cost, once. */
    settle: (body: SettleCall, options?: CallOptions) =>
      send<SettleAnswer>(
        {
          method: "POST",
          path: `${base}/settle`,
          body,
          accepts: (answer) => has(answer, { settled: "boolean", remaining: "number" }),
        },
        options,
      ),

    /** What a take of one would hear now; spends nothing. */
    peek: (key = "default", options?: CallOptions) =>
      send<TakeAnswer>({ method: "GET", path: `${base}/keys/${segment(key)}`, accepts: isTake }, options),
  };
}

function repeatable<B extends { request_id?: string | undefined }>(body: B, options?: CallOptions): B {
  if (body.request_id !== undefined || options?.retry === false) return body;
  return { ...body, request_id: newRequestId() };
}

type Answer = Record<string, unknown>;
const isLimit = (answer: Answer) => has(answer, { algorithm: "string", capacity: "number" });
const isTake = (answer: Answer) =>
  has(answer, { allowed: "boolean", remaining: "number", delay_ms: "number" }) &&
  (answer.allowed === true || has(answer, { retry_after_ms: "number" }));
