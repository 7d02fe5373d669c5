import type { World } from "./world.ts";

/** As much of a JSON schema as our own documents use. */
export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
}

/** One operation of the served document, with what a test needs to call it. */
export interface Described {
  id: string;
  method: string;
  path: string;
  params: Record<string, Schema>;
  body: Schema | undefined;
  description: string;
  /** What it answers when all is well, by status. */
  answers: Record<string, Schema>;
}

interface Document {
  paths: Record<string, Record<string, Raw>>;
}

interface Raw {
  operationId: string;
  description: string;
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

/** Every operation that `/openapi.json` names, so that a new route meets every shared test. */
export async function operationsOf(world: World): Promise<Described[]> {
  const { paths } = (await world.get("/openapi.json")).body as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      params: Object.fromEntries(
        (raw.parameters ?? []).filter((one) => one.in === "path").map(({ name, schema }) => [name, schema]),
      ),
      body: raw.requestBody?.content["application/json"].schema,
      description: raw.description,
      answers: Object.fromEntries(
        Object.entries(raw.responses).flatMap(([status, { content = {} }]) =>
          Object.values(content).map(({ schema }) => [status, schema]),
        ),
      ),
    })),
  );
}

/** The path with every parameter filled in: with `values`, else with a good name. */
export function urlOf({ path }: Described, values: Record<string, string> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? `some-${name}`);
}

const TASK = {
  id: "abc",
  payload: [{ a: 1 }],
  priority: 1,
  class: "normal",
  delay_ms: 0,
  max_deliveries: 1,
  time_limit_ms: 60_000,
};

/** Bodies that the schema alone cannot tell, by operation. Each must be one that the operation takes. */
const SAMPLES: Record<string, unknown> = {
  "fleets.acquire": {
    cluster: "abc",
    pod: "abc",
    instance: "abc",
    request_id: "abc",
    class: "normal",
    ttl_ms: 30_000,
    wait_ms: 0,
    attempt: 0,
  },
  "queues.configure": {
    fleet: "some-fleet",
    lease_ttl_ms: 30_000,
    max_deliveries: 1,
    time_limit_ms: 60_000,
    soft_time_limit_ms: 30_000,
    max_backlog: 1_000,
    result_ttl_ms: 60_000,
    paused: false,
  },
  "limits.set": {
    algorithm: "token_bucket",
    capacity: 100,
    refill_per_s: 10,
    adapt: { queue: "some-queue", target_wait_ms: 1_000, min_per_s: 1, max_per_s: 100 },
    on_error: "deny",
    shadow: false,
  },
  "limits.takes": { takes: [{ limit: "some-limit", key: "abc", cost: 1 }], request_id: "abc" },
  "filters.set": { capacity: 1_000, error_rate: 0.01 },
  "filters.guard": { item: "abc", limit: "some-limit", key: "abc", cost: 1 },
  "queues.enqueue": { ...TASK },
  "queues.batch": { tasks: [{ ...TASK }] },
  "fleets.set-policy": { ttl_ms: 30_000, classes: { normal: { ratio: 0.5 } }, paused: false },
};

/** A body that the operation takes, with every field it knows; undefined where it takes none. */
export function sampleOf({ id, body }: Described): unknown {
  return body && (SAMPLES[id] ?? sample(body));
}

const TEXTS = ["abc", "YWJj", "0".repeat(64), "1"];

function sample(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice) return sample(choice);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => sample(one) as object));
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? { abc: valuesOf(schema) }).map(([name, one]) => [
          name,
          sample(one),
        ]),
      );
    case "array":
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () => sample(schema.items ?? {}));
    case "string":
      return TEXTS.find((text) => accepts(schema, text)) ?? "abc";
    case "integer":
    case "number":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    default:
      return "abc";
  }
}

const valuesOf = (schema: Schema): Schema =>
  typeof schema.additionalProperties === "object" ? schema.additionalProperties : {};

/** True when the schema says that this value is good; what only code knows (sums, cross checks) it cannot say. */
export function accepts(schema: Schema, value: unknown): boolean {
  if (schema.const !== undefined && schema.const !== value) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.some((one) => accepts(one, value));
  if (schema.allOf) return schema.allOf.every((one) => accepts(one, value));
  if (Array.isArray(schema.type)) return schema.type.some((type) => accepts({ ...schema, type }, value));
  switch (schema.type) {
    case "object":
      return isObject(value) && acceptsObject(schema, value);
    case "array":
      return Array.isArray(value) && acceptsItems(schema, value);
    case "string":
      return typeof value === "string" && acceptsText(schema, value);
    case "integer":
      return Number.isSafeInteger(value) && inRange(schema, value as number);
    case "number":
      return Number.isFinite(value) && inRange(schema, value as number);
    case undefined:
      return true;
    default:
      return schema.type === (value === null ? "null" : typeof value);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function acceptsObject(schema: Schema, value: Record<string, unknown>): boolean {
  const { properties = {}, required = [] } = schema;
  if (required.some((name) => !Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, one]) => {
    if (Object.hasOwn(properties, name)) return accepts(properties[name] as Schema, one);
    return schema.additionalProperties === false ? false : accepts(valuesOf(schema), one);
  });
}

function acceptsItems({ items = {}, minItems = 0, maxItems = Infinity }: Schema, value: unknown[]): boolean {
  return value.length >= minItems && value.length <= maxItems && value.every((one) => accepts(items, one));
}

function acceptsText({ minLength = 0, maxLength = Infinity, pattern = "" }: Schema, value: string): boolean {
  return value.length >= minLength && value.length <= maxLength && new RegExp(pattern, "u").test(value);
}

function inRange(
  { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity }: Schema,
  value: number,
): boolean {
  return value >= minimum && value <= maximum && value > exclusiveMinimum;
}

/** A place in a body and what the schema wants there. */
export interface Place {
  path: (string | number)[];
  schema: Schema;
}

/** Every field of the sample, at every depth, with its schema. */
export function placesIn(schema: Schema, value: unknown, path: Place["path"] = []): Place[] {
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) {
    const taken = choices.filter((one) => schema.allOf || accepts(one, value));
    return taken.slice(0, schema.allOf ? taken.length : 1).flatMap((one) => placesIn(one, value, path));
  }
  const children: Place[] = Array.isArray(value)
    ? value.slice(0, 1).map(() => ({ path: [...path, 0], schema: schema.items ?? {} }))
    : isObject(value)
      ? Object.keys(value).map((name) => ({
          path: [...path, name],
          schema: schema.properties?.[name] ?? valuesOf(schema),
        }))
      : [];
  return children.flatMap((child) => {
    const last = child.path.at(-1) as string & number;
    return [child, ...placesIn(child.schema, (value as Record<string, unknown>)[last], child.path)];
  });
}

/** The JSON text of a body with one place replaced by a text that need not be JSON. */
export function textWith(body: unknown, path: Place["path"], text: string): string {
  const mark = `@@${crypto.randomUUID()}@@`;
  const copy = structuredClone(body) as Record<string, unknown>;
  let at = copy;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string, unknown>;
  at[path.at(-1) as string] = mark;
  return JSON.stringify(copy).replace(`"${mark}"`, () => text);
}
