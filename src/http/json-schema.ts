import type * as z from "zod/mini";

type Json = Record<string, unknown>;

/**
 * The JSON schema of what a schema takes or gives, for the kinds that our wire has; throws for any other. It says what
 * z.toJSONSchema says (test/http/json-schema.test.ts), which alone would be 6.6 KiB of the upload.
 */
export function jsonSchema(schema: z.core.$ZodType, io: "input" | "output"): Json {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const of = (inner: z.core.$ZodType) => jsonSchema(inner, io);
  switch (def.type) {
    case "string":
      return { type: "string", ...boundsOf(schema, "Length") };
    case "number":
      return { type: "number", ...boundsOf(schema) };
    case "boolean":
    case "null":
      return { type: def.type };
    case "enum":
      return { type: "string", enum: Object.values(def.entries) };
    case "literal":
      return { type: typeof def.values[0], const: def.values[0] };
    case "array":
      return { type: "array", items: of(def.element), ...boundsOf(schema, "Items") };
    case "record":
      return { type: "object", propertyNames: of(def.keyType), additionalProperties: of(def.valueType) };
    case "object": {
      const fields = Object.entries(def.shape);
      const required = fields.filter(
        ([, { _zod }]) => (io === "input" ? _zod.optin : _zod.optout) === undefined,
      );
      return {
        type: "object",
        properties: Object.fromEntries(fields.map(([name, field]) => [name, of(field)])),
        ...(required.length > 0 ? { required: required.map(([name]) => name) } : {}),
        ...(def.catchall || io === "output" ? { additionalProperties: false } : {}),
      };
    }
    case "union":
      return { [def.inclusive === false ? "oneOf" : "anyOf"]: def.options.map(of) };
    case "nullable":
      return orNull(of(def.innerType));
    case "optional":
      return of(def.innerType);
    case "default":
      return { ...of(def.innerType), default: def.defaultValue };
    case "unknown":
    case "custom":
      return {};
    default:
      throw new Error(`no JSON schema for ${def.type}`);
  }
}

function orNull(json: Json): Json {
  const bare = Object.keys(json).join() === "type";
  return bare ? { type: [json.type, "null"] } : { anyOf: [json, { type: "null" }] };
}

/** What the checks of a schema add: the narrowest bounds, an integer, a pattern. */
function boundsOf(schema: z.core.$ZodType, unit = ""): Json {
  const bounds: Json = {};
  const narrow = (word: string, value: unknown, tighter: (...of: number[]) => number) => {
    bounds[word] = tighter(Number(bounds[word] ?? value), Number(value));
  };
  // A format such as z.int() is a check of its own.
  const checks = [schema as unknown as z.core.$ZodCheck, ...(schema._zod.def.checks ?? [])];
  for (const check of checks) {
    const { def } = (check as z.core.$ZodChecks)._zod;
    switch (def.check) {
      case "number_format":
        bounds.type = "integer";
        narrow("minimum", Number.MIN_SAFE_INTEGER, Math.max);
        narrow("maximum", Number.MAX_SAFE_INTEGER, Math.min);
        break;
      case "greater_than":
        narrow(def.inclusive ? "minimum" : "exclusiveMinimum", def.value, Math.max);
        break;
      case "less_than":
        narrow(def.inclusive ? "maximum" : "exclusiveMaximum", def.value, Math.min);
        break;
      case "min_length":
        narrow(`min${unit}`, def.minimum, Math.max);
        break;
      case "max_length":
        narrow(`max${unit}`, def.maximum, Math.min);
        break;
      case "string_format":
        if (def.pattern) bounds.pattern = def.pattern.source;
        break;
    }
  }
  return bounds;
}
