import * as z from "zod/mini";
import { name } from "../http/fields.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { Operate } from "./operate.ts";
import { PROMETHEUS_MEDIA } from "./prometheus.ts";
import * as wire from "./schema.ts";

const ofFleet = z.strictObject({ fleet: name });
const ofQueue = z.strictObject({ queue: name });

/** The wire of the operate room (PROTOCOL, Operate). */
export function operateRoutes(operate: Operate): Operation[] {
  return [
    operation({
      id: "operate.metrics",
      method: "GET",
      path: "/metrics",
      summary: "Everything that is counted, as Prometheus text",
      scopes: ["read"],
      params: z.strictObject({}),
      media: PROMETHEUS_MEDIA,
      answer: z.string(),
      handle: async ({ caller }) => ({ body: "", content: await operate.metrics(caller) }),
    }),
    operation({
      id: "operate.scale-fleet",
      method: "GET",
      path: "/v1/scale/fleets/{fleet}",
      summary: "How many pods a fleet needs for what it holds",
      scopes: ["read"],
      params: ofFleet,
      query: wire.scaleQuery,
      answer: wire.fleetScale,
      handle: async ({ params, query }) => ({ body: await operate.scale.fleet(params.fleet, query) }),
    }),
    operation({
      id: "operate.scale-queue",
      method: "GET",
      path: "/v1/scale/queues/{queue}",
      summary: "How many pods a queue needs for its backlog",
      scopes: ["read"],
      params: ofQueue,
      query: wire.scaleQuery,
      answer: wire.queueScale,
      handle: async ({ params, query }) => ({ body: await operate.scale.queue(params.queue, query) }),
    }),
    operation({
      id: "operate.idle",
      method: "GET",
      path: "/v1/fleets/{fleet}/idle",
      summary: "The pods that hold nothing, longest idle first: those to remove first",
      scopes: ["read"],
      params: ofFleet,
      query: wire.idleQuery,
      answer: wire.idleAnswer,
      handle: async ({ params, query }) => ({ body: await operate.idle(params.fleet, query.limit) }),
    }),
    operation({
      id: "operate.events",
      method: "GET",
      path: "/v1/fleets/{fleet}/events",
      summary: "What happens to a fleet, as server-sent events",
      scopes: ["read"],
      params: ofFleet,
      query: wire.eventsQuery,
      media: "text/event-stream",
      answer: z.string(),
      handle: async ({ params, query, header, signal }) => {
        const lastId = header("last-event-id") ?? query.last_event_id;
        const content = await operate.events(params.fleet, lastId, signal);
        return { body: "", content, headers: { "cache-control": "no-store" } };
      },
    }),
    operation({
      id: "operate.fleet-history",
      method: "GET",
      path: "/v1/fleets/{fleet}/history",
      summary: "What a fleet was in the last hour, day or month",
      scopes: ["read"],
      params: ofFleet,
      query: wire.spanQuery,
      answer: wire.fleetHistory,
      handle: async ({ params, query }) => ({ body: await operate.history.fleet(params.fleet, query.span) }),
    }),
    operation({
      id: "operate.queue-history",
      method: "GET",
      path: "/v1/queues/{queue}/history",
      summary: "What a queue was in the last hour, day or month",
      scopes: ["read"],
      params: ofQueue,
      query: wire.spanQuery,
      answer: wire.queueHistory,
      handle: async ({ params, query }) => ({ body: await operate.history.queue(params.queue, query.span) }),
    }),
  ];
}
