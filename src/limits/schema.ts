import * as z from "zod/mini";
import { anyText, broken, name } from "../http/fields.ts";
import { amount, limitBody } from "../rates/schema.ts";

/** The key of a call that names none. */
export const DEFAULT_KEY = "default";
const key = z._default(anyText, DEFAULT_KEY);
const cost = z._default(amount, 1);

export const takeBody = z.strictObject({ key, cost, request_id: z.optional(name) });

export const takesBody = z.strictObject({
  takes: z.array(z.strictObject({ limit: name, key, cost })).check(
    z.minLength(1),
    z.maxLength(10),
    z.superRefine((takes, context) => {
      const seen = new Set<string>();
      for (const [index, { limit, key }] of takes.entries()) {
        const bucket = JSON.stringify([limit, key]);
        if (seen.has(bucket)) context.addIssue({ code: "custom", path: [index], message: "is named twice" });
        seen.add(bucket);
      }
    }),
  ),
  request_id: z.optional(name),
});

/** What was really spent: 0…1,000,000,000. */
export const settleBody = z.strictObject({
  key,
  request_id: name,
  actual: z.number().check(z.minimum(0), z.maximum(1e9)),
});

const remaining = z.number().check(z.minimum(0));
const ms = z.int().check(z.minimum(0));
const retryAfterMs = z.int().check(z.minimum(1));

export const takeAnswer = z.object({
  allowed: z.boolean(),
  remaining,
  delay_ms: ms,
  retry_after_ms: z.optional(retryAfterMs),
  rate_per_s: z.number(),
  estimated_wait_ms: z.optional(ms),
  shadowed: z.optional(z.literal(true)),
  degraded: z.optional(z.literal(true)),
});

const limitLevel = z.extend(takeAnswer, { limit: z.string(), config: limitBody });
export const limitsAnswer = z.object({ limits: z.array(limitLevel), broken });

export const takesAnswer = z.object({
  allowed: z.boolean(),
  refused_by: z.optional(z.string()),
  retry_after_ms: z.optional(retryAfterMs),
  takes: z.array(z.object({ limit: z.string(), remaining, delay_ms: ms })),
  degraded: z.optional(z.literal(true)),
});

export const settleAnswer = z.object({ settled: z.boolean(), remaining });

export const removeAnswer = z.object({ deleted: z.boolean() });

/** What a caller sends (`…Call`) and hears (`…Answer`); the client imports these types and no code. */
export type LimitCall = z.input<typeof limitBody>;
export type LimitAnswer = z.output<typeof limitBody>;
export type LimitLevel = z.output<typeof limitLevel>;
export type LimitsAnswer = z.output<typeof limitsAnswer>;
export type TakeCall = z.input<typeof takeBody>;
export type TakeAnswer = z.output<typeof takeAnswer>;
export type TakesCall = z.input<typeof takesBody>;
export type TakesAnswer = z.output<typeof takesAnswer>;
export type SettleCall = z.input<typeof settleBody>;
export type SettleAnswer = z.output<typeof settleAnswer>;
