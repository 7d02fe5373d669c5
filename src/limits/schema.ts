import * as z from "zod";
import { anyText, name } from "../http/fields.ts";
import { amount, type limitBody } from "../rates/schema.ts";

const key = anyText.default("default");
const cost = amount.default(1);

export const takeBody = z.strictObject({ key, cost, request_id: name.optional() });

export const takesBody = z.strictObject({
  takes: z
    .array(z.strictObject({ limit: name, key, cost }))
    .min(1)
    .max(10)
    .superRefine((takes, context) => {
      const seen = new Set<string>();
      for (const [index, { limit, key }] of takes.entries()) {
        const bucket = JSON.stringify([limit, key]);
        if (seen.has(bucket)) context.addIssue({ code: "custom", path: [index], message: "is named twice" });
        seen.add(bucket);
      }
    }),
  request_id: name.optional(),
});

/** What was really spent: 0…1,000,000,000. */
export const settleBody = z.strictObject({ key, request_id: name, actual: z.number().min(0).max(1e9) });

const remaining = z.number().min(0);
const ms = z.int().min(0);
const retryAfterMs = z.int().min(1);

export const takeAnswer = z.object({
  allowed: z.boolean(),
  remaining,
  delay_ms: ms,
  retry_after_ms: retryAfterMs.optional(),
  rate_per_s: z.number(),
  estimated_wait_ms: ms.optional(),
  shadowed: z.literal(true).optional(),
  degraded: z.literal(true).optional(),
});

export const takesAnswer = z.object({
  allowed: z.boolean(),
  refused_by: z.string().optional(),
  retry_after_ms: retryAfterMs.optional(),
  takes: z.array(z.object({ limit: z.string(), remaining, delay_ms: ms })),
  degraded: z.literal(true).optional(),
});

export const settleAnswer = z.object({ settled: z.boolean(), remaining });

export const removeAnswer = z.object({ deleted: z.boolean() });

/** What a caller sends (`…Call`) and hears (`…Answer`); the client imports these types and no code. */
export type LimitCall = z.input<typeof limitBody>;
export type LimitAnswer = z.output<typeof limitBody>;
export type TakeCall = z.input<typeof takeBody>;
export type TakeAnswer = z.output<typeof takeAnswer>;
export type TakesCall = z.input<typeof takesBody>;
export type TakesAnswer = z.output<typeof takesAnswer>;
export type SettleCall = z.input<typeof settleBody>;
export type SettleAnswer = z.output<typeof settleAnswer>;
