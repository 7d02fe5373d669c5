import * as z from "zod/mini";
import { name, page } from "../http/fields.ts";
import { type Operation, operation } from "../http/operation.ts";
import { policyBody } from "../leases/policy.ts";
import type { Fleets } from "./fleets.ts";
import * as wire from "./schema.ts";

const params = z.strictObject({ fleet: name });
const base = "/v1/fleets/{fleet}";

/** The wire of the fleets room (PROTOCOL, Fleets). */
export function fleetRoutes(fleets: Fleets): Operation[] {
  return [
    operation({
      id: "fleets.heartbeat",
      method: "POST",
      path: `${base}/heartbeat`,
      summary: "One pod says that it lives, and renews its leases",
      scopes: ["worker"],
      params,
      body: wire.heartbeatBody,
      answer: wire.heartbeatAnswer,
      handle: async ({ params, body }) => ({ body: await fleets.heartbeat(params.fleet, body) }),
    }),
    operation({
      id: "fleets.heartbeats",
      method: "POST",
      path: `${base}/heartbeats`,
      summary: "Many pods of one cluster say that they live, in one call",
      scopes: ["worker"],
      params,
      body: wire.heartbeatsBody,
      answer: wire.heartbeatsAnswer,
      handle: async ({ params, body }) => ({ body: await fleets.heartbeats(params.fleet, body) }),
    }),
    operation({
      id: "fleets.acquire",
      method: "POST",
      path: `${base}/acquire`,
      summary: "Ask for a slot",
      scopes: ["worker"],
      params,
      body: wire.acquireBody,
      answer: wire.acquireAnswer,
      handle: async ({ params, body, signal }) => {
        const answer = await fleets.acquire(params.fleet, body, signal);
        if (answer.granted) return { body: answer };
        return { body: answer, headers: { "retry-after": String(Math.ceil(answer.retry_after_ms / 1_000)) } };
      },
    }),
    operation({
      id: "fleets.release",
      method: "POST",
      path: `${base}/release`,
      summary: "Give slots back",
      scopes: ["worker"],
      params,
      body: wire.releaseBody,
      answer: wire.releaseAnswer,
      handle: async ({ params, body }) => ({ body: await fleets.release(params.fleet, body.leases) }),
    }),
    operation({
      id: "fleets.leave",
      method: "POST",
      path: `${base}/leave`,
      summary: "A pod goes, and with it all that it holds",
      scopes: ["worker"],
      params,
      body: wire.leaveBody,
      answer: wire.leaveAnswer,
      handle: async ({ params, body }) => ({ body: await fleets.leave(params.fleet, body) }),
    }),
    operation({
      id: "fleets.list",
      method: "GET",
      path: "/v1/fleets",
      summary: "Every fleet heard of in the last 24 hours",
      scopes: ["read"],
      params: z.strictObject({}),
      answer: wire.fleetsAnswer,
      handle: async ({ caller }) => {
        const names = (await fleets.names()).filter((fleet) => caller.mayTouch("fleets", fleet));
        return { body: await fleets.list(names) };
      },
    }),
    operation({
      id: "fleets.status",
      method: "GET",
      path: base,
      summary: "Counts of one fleet, by class and by cluster",
      scopes: ["read"],
      params,
      query: wire.statusQuery,
      answer: wire.statusAnswer,
      handle: async ({ params, query }) => ({
        body: await fleets.status(params.fleet, query.held === "true"),
      }),
    }),
    operation({
      id: "fleets.pods",
      method: "GET",
      path: `${base}/pods`,
      summary: "The pods and their leases, page by page",
      scopes: ["read"],
      params,
      query: page,
      answer: wire.podsAnswer,
      handle: async ({ params, query }) => ({
        body: await fleets.pods(params.fleet, query.cursor, query.limit),
      }),
    }),
    operation({
      id: "fleets.policy",
      method: "GET",
      path: `${base}/policy`,
      summary: "The rules of a fleet",
      scopes: ["read"],
      params,
      answer: policyBody,
      handle: async ({ params }) => ({ body: await fleets.policy(params.fleet) }),
    }),
    operation({
      id: "fleets.set-policy",
      method: "PUT",
      path: `${base}/policy`,
      summary: "Replace the rules of a fleet; what is missing takes its default",
      scopes: [],
      params,
      body: policyBody,
      answer: policyBody,
      handle: async ({ params, body }) => ({ body: await fleets.setPolicy(params.fleet, body) }),
    }),
    operation({
      id: "fleets.drains",
      method: "GET",
      path: `${base}/drain`,
      summary: "Who is told to drain",
      scopes: ["read"],
      params,
      answer: wire.drainAnswer,
      handle: async ({ params }) => ({ body: await fleets.drains(params.fleet) }),
    }),
    operation({
      id: "fleets.drain",
      method: "POST",
      path: `${base}/drain`,
      summary: "Tell a pod, a cluster or the whole fleet to drain, or take that back",
      scopes: [],
      params,
      body: wire.drainBody,
      answer: wire.drainAnswer,
      handle: async ({ params, body }) => ({ body: await fleets.drain(params.fleet, body) }),
    }),
  ];
}
