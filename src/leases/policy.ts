import * as z from "zod";
import { durationMs, name } from "../http/fields.ts";

/** A share of the live pods: 0.0001…1 with at most 4 decimals, so that it is a whole number of ten-thousandths. */
const ratio = z
  .number()
  .min(0.0001)
  .max(1)
  .refine((value) => Math.round(value * 10_000) / 10_000 === value, {
    error: "must have at most 4 decimals",
  });

export const policyBody = z.strictObject({
  ttl_ms: durationMs.default(30_000),
  heartbeat_ms: durationMs.default(10_000),
  lease_ttl_ms: durationMs.default(30_000),
  classes: z
    .record(name, z.strictObject({ ratio }))
    .refine((classes) => Object.hasOwn(classes, "normal"), { error: "must contain normal" })
    .refine((classes) => Object.keys(classes).length <= 32, { error: "must have at most 32 classes" })
    .default({ normal: { ratio: 0.8 }, high: { ratio: 1 } }),
  paused: z.boolean().default(false),
  /** A limit of which every acquire takes one, under the fleet's name as key. */
  limit: name.optional(),
});

/** Rules of a fleet, as stored and as answered. Durations in milliseconds. */
export type Policy = z.output<typeof policyBody>;

/** The policy a fleet has until one is set. */
export const DEFAULT_POLICY: Policy = policyBody.parse({});
