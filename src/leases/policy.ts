import * as z from "zod/mini";
import { durationMs, name } from "../http/fields.ts";

/** A share of the live pods: 0.0001…1 with at most 4 decimals, so that it is a whole number of ten-thousandths. */
const ratio = z.number().check(
  z.minimum(0.0001),
  z.maximum(1),
  z.refine((value) => Math.round(value * 10_000) / 10_000 === value, {
    error: "must have at most 4 decimals",
  }),
);

export const policyBody = z.strictObject({
  ttl_ms: z._default(durationMs, 30_000),
  heartbeat_ms: z._default(durationMs, 10_000),
  lease_ttl_ms: z._default(durationMs, 30_000),
  classes: z._default(
    z.record(name, z.strictObject({ ratio })).check(
      z.refine((classes) => Object.hasOwn(classes, "normal"), { error: "must contain normal" }),
      z.refine((classes) => Object.keys(classes).length <= 32, { error: "must have at most 32 classes" }),
    ),
    { normal: { ratio: 0.8 }, high: { ratio: 1 } },
  ),
  paused: z._default(z.boolean(), false),
  /** A limit of which every acquire takes one, under the fleet's name as key. */
  limit: z.optional(name),
});

/** Rules of a fleet, as stored and as answered. Durations in milliseconds. */
export type Policy = z.output<typeof policyBody>;

/** The policy a fleet has until one is set. */
export const DEFAULT_POLICY: Policy = policyBody.parse({});
