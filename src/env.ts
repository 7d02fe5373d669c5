import * as z from "zod/mini";
import { keyRecord } from "./http/auth.ts";
import { issuerRecord } from "./http/tokens.ts";

/** A JSON list in a binding; a wrong entry is named by its place, never quoted. */
const listOf = <S extends z.ZodMiniType>(entry: S) =>
  z.pipe(
    z.string(),
    z.transform((text, context): z.output<S>[] => {
      const fail = (message: string) => {
        context.issues.push({ code: "custom", message, input: undefined });
        return z.NEVER;
      };
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return fail("is not valid JSON");
      }
      const result = z.array(entry).safeParse(value);
      if (result.success) return result.data;
      const [where] = result.error.issues;
      const fault = where?.code === "unrecognized_keys" ? "has an unknown field" : where?.message;
      return fail(`${where?.path.join(".")}: ${fault}`);
    }),
  );

/** The bindings of the Worker. Secrets are set with `wrangler secret put`. */
export const envSchema = z.object({
  UPSTASH_REDIS_REST_URL: z.url({ protocol: /^https?$/ }),
  UPSTASH_REDIS_REST_TOKEN: z.string().check(z.minLength(1)),
  /** JSON: a list of key records, as `scripts/key` prints them. */
  FLEETGATE_KEYS: listOf(keyRecord),
  /** JSON: a list of issuers of pods' own tokens (docs/operate.md). */
  FLEETGATE_ISSUERS: z._default(listOf(issuerRecord), []),
  /** First part of every Redis key, so that several coordinators can share one database. */
  FLEETGATE_PREFIX: z._default(z.string().check(z.regex(/^[A-Za-z0-9._-]{1,32}$/)), "fg"),
  /** Lock only a script's own keys on Upstash; `auto` looks at the host. */
  FLEETGATE_KEY_LOCKING: z._default(z.enum(["auto", "on", "off"]), "auto"),
  /** The files beside the Worker: the dashboard. */
  ASSETS: z.optional(
    z.custom<{ fetch(request: Request): Promise<Response> }>(
      (binding) => typeof Object(binding).fetch === "function",
    ),
  ),
  LOG_LEVEL: z._default(z.enum(["debug", "info", "warn", "error"]), "info"),
});

export type Env = z.output<typeof envSchema>;

/** Checks the bindings. Throws an Error that names the wrong one, never its value. */
export function parseEnv(bindings: unknown): Env {
  const result = envSchema.safeParse(bindings);
  if (result.success) return result.data;
  const wrong = result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new Error(`the Worker's settings are wrong: ${wrong.join("; ")}`);
}
