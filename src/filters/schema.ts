import * as z from "zod/mini";
import { anyText, name } from "../http/fields.ts";
import { amount } from "../rates/schema.ts";

/** At most a billion items (1.2 GB at 1 %), and from one false answer in two to one in a million. */
export const filterBody = z.strictObject({
  capacity: z.int().check(z.minimum(1), z.maximum(1_000_000_000)),
  error_rate: z.number().check(z.minimum(1e-6), z.maximum(0.5)),
});

/** A filter as configured and as answered. */
export type Filter = z.output<typeof filterBody>;

export const itemsBody = z.strictObject({
  items: z.array(anyText).check(z.minLength(1), z.maxLength(1_000)),
});

export const guardBody = z.strictObject({
  item: anyText,
  limit: name,
  key: z._default(anyText, "default"),
  cost: z._default(amount, 1),
});

export const addAnswer = z.object({ added: z.int().check(z.minimum(0)) });

export const checkAnswer = z.object({ present: z.array(z.boolean()) });

export const guardAnswer = z.object({
  verdict: z.enum(["absent", "limited", "pass"]),
  retry_after_ms: z.optional(z.int().check(z.minimum(1))),
  delay_ms: z.optional(z.int().check(z.minimum(1))),
});

export const rotateAnswer = z.object({ rotated: z.literal(true) });

export const removeAnswer = z.object({ deleted: z.boolean() });

/** What a caller sends (`…Call`) and hears (`…Answer`); the client imports these types and no code. */
export type FilterCall = z.input<typeof filterBody>;
export type FilterAnswer = z.output<typeof filterBody>;
export type ItemsCall = z.input<typeof itemsBody>;
export type AddAnswer = z.output<typeof addAnswer>;
export type CheckAnswer = z.output<typeof checkAnswer>;
export type GuardCall = z.input<typeof guardBody>;
export type GuardAnswer = z.output<typeof guardAnswer>;
