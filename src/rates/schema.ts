import * as z from "zod/mini";
import { durationMs, name } from "../http/fields.ts";

/** An amount or a rate: 0.000001…1,000,000,000. */
export const amount = z.number().check(z.minimum(1e-6), z.maximum(1e9));

/** Capacity ÷ rate at most: no bucket takes longer than this to fill. */
const LONGEST_S = 30 * 86_400;

const adapt = z.strictObject({
  queue: name,
  target_wait_ms: durationMs,
  min_per_s: amount,
  max_per_s: amount,
});

const rules = {
  capacity: amount,
  adapt: z.optional(adapt),
  on_error: z._default(z.enum(["deny", "allow"]), "deny"),
  shadow: z._default(z.boolean(), false),
};

export const limitBody = z
  .discriminatedUnion("algorithm", [
    z.strictObject({ algorithm: z.literal("token_bucket"), refill_per_s: amount, ...rules }),
    z.strictObject({ algorithm: z.literal("leaky_bucket"), leak_per_s: amount, ...rules }),
  ])
  .check(
    z.superRefine((limit, context) => {
      const slowest = Math.min(setRate(limit), limit.adapt?.min_per_s ?? Number.POSITIVE_INFINITY);
      if (limit.capacity > slowest * LONGEST_S) {
        const message = `must be at most 30 days of the slowest rate, ${slowest} per second`;
        context.addIssue({ code: "custom", path: ["capacity"], message });
      }
      if (limit.adapt && limit.adapt.min_per_s > limit.adapt.max_per_s) {
        context.addIssue({ code: "custom", path: ["adapt", "min_per_s"], message: "is above max_per_s" });
      }
    }),
  );

/** A limit as configured and as answered; rates per second. */
export type Limit = z.output<typeof limitBody>;

/** The rate a limit was given, per second; one that adapts starts from it. */
export function setRate(limit: Limit): number {
  return limit.algorithm === "token_bucket" ? limit.refill_per_s : limit.leak_per_s;
}
