import * as z from "zod/mini";
import { name } from "../http/fields.ts";

const count = z.int().check(z.minimum(0));
const at = z.int();

/** How far back: an hour and a day in steps of a minute, 30 days in steps of 15. */
export const spanQuery = z.strictObject({ span: z._default(z.enum(["1h", "24h", "30d"]), "1h") });

const history = <S extends z.ZodMiniType>(sample: S) =>
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

/** The class whose ratio divides, and slots to keep free beside what is asked for. */
export const scaleQuery = z.strictObject({
  class: z._default(name, "normal"),
  spare: z._default(z.coerce.number().check(z.int(), z.minimum(0), z.maximum(1_000_000)), 0),
});

export const fleetScale = z.object({ live: count, busy: count, capacity: count, wanted: count });
export const queueScale = z.object({ backlog: count, in_flight: count, wanted: count });

export const idleQuery = z.strictObject({
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(1_000)), 100),
});

export const idleAnswer = z.object({
  pods: z.array(z.object({ cluster: z.string(), pod: z.string(), idle_ms: count })),
});

/** Where EventSource cannot send a header, the id goes here. */
export const eventsQuery = z.strictObject({ last_event_id: z.optional(z.string().check(z.maxLength(32))) });

/** What a caller hears; the client and the dashboard import these types and no code. */
export type FleetHistory = z.output<typeof fleetHistory>;
export type FleetScale = z.output<typeof fleetScale>;
export type QueueScale = z.output<typeof queueScale>;
export type IdleAnswer = z.output<typeof idleAnswer>;
export type QueueHistory = z.output<typeof queueHistory>;
export type ScaleCall = Partial<z.output<typeof scaleQuery>>;
export type IdleCall = Partial<z.output<typeof idleQuery>>;
export type HistoryCall = Partial<z.output<typeof spanQuery>>;
