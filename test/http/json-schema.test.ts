/// <reference types="vite/types/importMeta.d.ts" />
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { jsonSchema } from "../../src/http/json-schema.ts";

const modules = {
  ...import.meta.glob<Record<string, unknown>>("../../src/*/schema.ts", { eager: true }),
  ...import.meta.glob<Record<string, unknown>>("../../src/http/fields.ts", { eager: true }),
  ...import.meta.glob<Record<string, unknown>>("../../src/leases/policy.ts", { eager: true }),
};
const schemas = Object.entries(modules).flatMap(([file, module]) =>
  Object.entries(module).flatMap(([name, schema]) =>
    schema instanceof z.ZodMiniType ? [[`${file} ${name}`, schema] as const] : [],
  ),
);

test("every shape of the wire is found", () => expect(schemas.length).toBeGreaterThan(50));

test.each(schemas)("%s is described as zod itself describes it", (_, schema) => {
  for (const io of ["input", "output"] as const) {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
    expect(jsonSchema(schema, io)).toEqual(JSON.parse(JSON.stringify(json)));
  }
});

test("a kind that the wire does not have is refused, not described wrongly", () => {
  expect(() => jsonSchema(z.object({ at: z.date() }), "output")).toThrow("no JSON schema for date");
});
