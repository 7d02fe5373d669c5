import * as z from "zod";

const count = z.int().min(0);
const at = z.int();

/** How far back: an hour and a day in steps of a minute, 30 days in steps of 15. */
export const spanQuery = z.strictObject({ span: z.enum(["1h", "24h", "30d"]).default("1h") });

const history = <S extends z.ZodType>(sample: S) =>
  z.object({ span: z.enum(["1h", "24h", "30d"]), step_ms: z.int(), samples: z.array(sample) });

export const fleetHistory = history(
  z.object({
    at,
    live: count,
    busy: count,
    capacity: count,
    grants: count,
    denials: count,
    lapsed: count,
  }),
);

export const queueHistory = history(
  z.object({
    at,
    ready: count,
    delayed: count,
    in_flight: count,
    dead: count,
    oldest_ready_ms: count,
  }),
);

/** What a caller hears; the client and the dashboard import these types and no code. */
export type FleetHistory = z.output<typeof fleetHistory>;
export type QueueHistory = z.output<typeof queueHistory>;
