import * as z from "zod";
import { keyRecord } from "./http/auth.ts";
import { issuerRecord } from "./http/tokens.ts";

/** A JSON list in a binding; a wrong entry is named by its place, never quoted. */
const listOf = <S extends z.ZodType>(entry: S) =>
  z.string().transform((text, context): z.output<S>[] => {
    try {
      return z.array(entry).parse(JSON.parse(text));
    } catch (error) {
      const where = error instanceof z.ZodError ? error.issues[0] : undefined;
      const message = where ? `${where.path.join(".")}: ${where.message}` : "is not valid JSON";
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
  });

interface Assets {
  fetch(request: Request): Promise<Response>;
}

/** The bindings of the Worker. Secrets are set with `wrangler secret put`. */
export const envSchema = z.object({
  UPSTASH_REDIS_REST_URL: z.url({ protocol: /^https?$/ }),
  UPSTASH_REDIS_REST_TOKEN: z.string().min(1),
  /** JSON: a list of key records, as `scripts/key` prints them. */
  FLEETGATE_KEYS: listOf(keyRecord),
  /** JSON: a list of issuers of pods' own tokens (docs/operate.md). */
  FLEETGATE_ISSUERS: listOf(issuerRecord).default([]),
  /** First part of every Redis key, so that several coordinators can share one database. */
  FLEETGATE_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,32}$/)
    .default("fg"),
  /** Lock only a script's own keys on Upstash; `auto` looks at the host. */
  FLEETGATE_KEY_LOCKING: z.enum(["auto", "on", "off"]).default("auto"),
  /** The files beside the Worker: the dashboard. */
  ASSETS: z.custom<Assets>((binding) => typeof Object(binding).fetch === "function").optional(),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info"),
});

export type Env = z.output<typeof envSchema>;

/** Checks the bindings. Throws an Error that names the wrong one, never its value. */
export function parseEnv(bindings: unknown): Env {
  const result = envSchema.safeParse(bindings);
  if (result.success) return result.data;
  const wrong = result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new Error(`the Worker's settings are wrong: ${wrong.join("; ")}`);
}
