import * as z from "zod/mini";
import { name } from "../http/fields.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { Filters } from "./filters.ts";
import * as wire from "./schema.ts";

const params = z.strictObject({ filter: name });
const base = "/v1/filters/{filter}";

/** The wire of the filters room (PROTOCOL, Filters). */
export function filterRoutes(filters: Filters): Operation[] {
  return [
    operation({
      id: "filters.set",
      method: "PUT",
      path: base,
      summary: "Set a filter; after a change what was added is still found",
      scopes: [],
      params,
      body: wire.filterBody,
      answer: wire.filterBody,
      handle: async ({ params, body }) => ({ body: await filters.set(params.filter, body) }),
    }),
    operation({
      id: "filters.get",
      method: "GET",
      path: base,
      summary: "The configuration of a filter",
      scopes: ["read"],
      params,
      answer: wire.filterBody,
      handle: async ({ params }) => ({ body: await filters.get(params.filter) }),
    }),
    operation({
      id: "filters.remove",
      method: "DELETE",
      path: base,
      summary: "Remove a filter with all that was added",
      scopes: [],
      params,
      answer: wire.removeAnswer,
      handle: async ({ params }) => ({ body: await filters.remove(params.filter) }),
    }),
    operation({
      id: "filters.add",
      method: "POST",
      path: `${base}/add`,
      summary: "Add items",
      scopes: ["producer"],
      params,
      body: wire.itemsBody,
      answer: wire.addAnswer,
      handle: async ({ params, body }) => ({ body: await filters.add(params.filter, body.items) }),
    }),
    operation({
      id: "filters.check",
      method: "POST",
      path: `${base}/check`,
      summary: "Ask whether items were added; a yes may be wrong, a no never is",
      scopes: ["worker", "producer"],
      params,
      body: wire.itemsBody,
      answer: wire.checkAnswer,
      handle: async ({ params, body }) => ({ body: await filters.check(params.filter, body.items) }),
    }),
    operation({
      id: "filters.guard",
      method: "POST",
      path: `${base}/guard`,
      summary: "Spend from a limit for an item that was added, and nothing for any other",
      scopes: ["worker", "producer"],
      params,
      body: wire.guardBody,
      answer: wire.guardAnswer,
      handle: async ({ params, body }) => {
        const answer = await filters.guard(params.filter, body);
        if (answer.retry_after_ms === undefined) return { body: answer };
        return { body: answer, headers: { "retry-after": String(Math.ceil(answer.retry_after_ms / 1_000)) } };
      },
    }),
    operation({
      id: "filters.rotate",
      method: "POST",
      path: `${base}/rotate`,
      summary: "Start a new generation; the one before answers until the next rotation",
      scopes: [],
      params,
      answer: wire.rotateAnswer,
      handle: async ({ params }) => ({ body: await filters.rotate(params.filter) }),
    }),
  ];
}
