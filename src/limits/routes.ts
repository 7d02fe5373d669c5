import * as z from "zod/mini";
import { refuseForeign } from "../http/auth.ts";
import { anyText, name } from "../http/fields.ts";
import { type Operation, operation } from "../http/operation.ts";
import { limitBody } from "../rates/schema.ts";
import { toldBroken } from "../redis/readable.ts";
import type { Limits } from "./limits.ts";
import * as wire from "./schema.ts";

const params = z.strictObject({ limit: name });
const base = "/v1/limits/{limit}";

/** Each takes four commands, and an operator reads no more. */
const MOST_LISTED = 200;

/** The wire of the limits room (PROTOCOL, Limits). */
export function limitRoutes(limits: Limits): Operation[] {
  return [
    operation({
      id: "limits.list",
      method: "GET",
      path: "/v1/limits",
      summary: "The level of every limit heard of in the last 24 hours, of the key default",
      scopes: ["read"],
      params: z.strictObject({}),
      answer: wire.limitsAnswer,
      handle: async () => {
        const { rows, broken } = await limits.levels((await limits.names()).sort().slice(0, MOST_LISTED));
        return { body: { limits: rows, ...toldBroken(broken) } };
      },
    }),
    operation({
      id: "limits.set",
      method: "PUT",
      path: base,
      summary: "Set a limit; a change applies to every key of it from then on",
      scopes: [],
      params,
      body: limitBody,
      answer: limitBody,
      handle: async ({ params, body, caller }) => {
        if (body.adapt) refuseForeign(caller, { queue: body.adapt.queue });
        return { body: await limits.set(params.limit, body) };
      },
    }),
    operation({
      id: "limits.get",
      method: "GET",
      path: base,
      summary: "The configuration of a limit",
      scopes: ["read"],
      params,
      answer: limitBody,
      handle: async ({ params }) => ({ body: await limits.get(params.limit) }),
    }),
    operation({
      id: "limits.remove",
      method: "DELETE",
      path: base,
      summary: "Remove a limit",
      scopes: [],
      params,
      answer: wire.removeAnswer,
      handle: async ({ params }) => ({ body: await limits.remove(params.limit) }),
    }),
    operation({
      id: "limits.take",
      method: "POST",
      path: `${base}/take`,
      summary: "Take from one limit",
      scopes: ["worker", "producer"],
      params,
      body: wire.takeBody,
      answer: wire.takeAnswer,
      handle: ({ params, body }) => limits.take(params.limit, body),
    }),
    operation({
      id: "limits.takes",
      method: "POST",
      path: "/v1/take",
      summary: "Take from several limits, from all or from none",
      scopes: ["worker", "producer"],
      params: z.strictObject({}),
      body: wire.takesBody,
      answer: wire.takesAnswer,
      handle: ({ body }) => limits.takes(body),
    }),
    operation({
      id: "limits.settle",
      method: "POST",
      path: `${base}/settle`,
      summary: "Correct a take by what it really cost",
      scopes: ["worker", "producer"],
      params,
      body: wire.settleBody,
      answer: wire.settleAnswer,
      handle: async ({ params, body }) => ({ body: await limits.settle(params.limit, body) }),
    }),
    operation({
      id: "limits.peek",
      method: "GET",
      path: `${base}/keys/{key}`,
      summary: "What a take of one would hear now",
      scopes: ["read"],
      params: z.strictObject({ limit: name, key: anyText }),
      answer: wire.takeAnswer,
      handle: async ({ params }) => ({ body: await limits.peek(params.limit, params.key) }),
    }),
  ];
}
