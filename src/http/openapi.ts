import type * as z from "zod/mini";
import { PROBLEMS } from "../problems.ts";
import { jsonSchema } from "./json-schema.ts";
import type { Operation } from "./operation.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of these operations, made from the very schemas that check them. */
export function openApi(operations: readonly Operation[]): Json {
  const paths: Record<string, Json> = {};
  for (const one of operations) {
    paths[one.path] = { ...paths[one.path], [one.method.toLowerCase()]: describe(one) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Fleetgate", version: "1", license: { name: "MIT", identifier: "MIT" } },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      responses: { problem: { description: "A problem (RFC 9457)", content: problemContent } },
    },
  };
}

function describe(one: Operation): Json {
  const parameters = [
    ...parametersOf(one.params, "path"),
    ...(one.query ? parametersOf(one.query, "query") : []),
  ];
  const body = one.body
    ? {
        requestBody: {
          required: true,
          content: { "application/json": { schema: jsonSchema(one.body, "input") } },
        },
      }
    : {};
  const good = {
    description: "OK",
    content: { [one.media ?? "application/json"]: { schema: jsonSchema(one.answer, "output") } },
  };
  return {
    operationId: one.id,
    summary: one.summary,
    description: `Scope: ${[...one.scopes, "admin"].join(" or ")}`,
    tags: [one.id.split(".", 1)[0]],
    parameters,
    ...body,
    responses: {
      ...Object.fromEntries((one.statuses ?? [200]).map((status) => [status, good])),
      default: { $ref: "#/components/responses/problem" },
    },
  };
}

function parametersOf(schema: z.ZodMiniObject, where: "path" | "query"): Json[] {
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as {
    properties?: Json;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    schema: property,
  }));
}

const problemContent = {
  "application/problem+json": {
    schema: {
      type: "object",
      required: ["type", "title", "status", "detail", "code", "trace_id"],
      properties: {
        type: { type: "string" },
        title: { type: "string" },
        status: { type: "integer" },
        detail: { type: "string" },
        code: { type: "string", enum: Object.keys(PROBLEMS) },
        errors: {
          type: "array",
          items: { type: "object", properties: { path: { type: "string" }, message: { type: "string" } } },
        },
        trace_id: { type: "string" },
      },
    },
  },
};
