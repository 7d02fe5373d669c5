import * as z from "zod/mini";
import { name } from "./fields.ts";
import { Problem } from "./problem.ts";

/** What a key may do. `admin` may do everything. */
export const scopes = z.enum(["worker", "producer", "read", "admin"]);
export type Scope = z.output<typeof scopes>;

/** One key as the Worker holds it: never the key itself, only its SHA-256. No `fleets` or `queues` means all. */
export const keyRecord = z.strictObject({
  id: name,
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, { error: "must be 64 hex digits" })),
  scopes: z.array(scopes).check(z.minLength(1)),
  fleets: z.optional(z.array(name)),
  queues: z.optional(z.array(name)),
});
export type KeyRecord = z.output<typeof keyRecord>;

/** Who is calling. */
export interface Caller {
  id: string;
  may(scopes: readonly Scope[]): boolean;
  mayTouch(kind: "fleets" | "queues", name: string): boolean;
  /** Whether it may speak for the pods that this body names, and for the holders of its leases. */
  maySpeak(body: unknown): boolean;
}

export interface Auth {
  /** The caller behind an `Authorization` header. Throws `unauthorized`. */
  identify(authorization: string | undefined): Promise<Caller>;
}

/** Bearer keys from a list of records; each comparison takes the same time whatever the key. */
export function makeKeyAuth(records: readonly KeyRecord[]): Auth {
  const callers = records.map((record) => ({ hash: record.sha256, caller: callerOf(record) }));
  return {
    async identify(authorization) {
      const key = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? "")?.[1];
      if (!key) throw unauthorized("send the header Authorization: Bearer <key>");
      const hash = await sha256(key);
      let found: Caller | undefined;
      for (const { hash: known, caller } of callers) if (same(hash, known)) found = caller;
      if (!found) throw unauthorized("this key is not known");
      return found;
    },
  };
}

/** Throws `not-yours` when a fleet or a queue among these is outside the list of the key. */
export function refuseForeign(caller: Caller, named: Record<string, unknown>): void {
  for (const [param, kind] of [
    ["fleet", "fleets"],
    ["queue", "queues"],
  ] as const) {
    const touched = named[param];
    if (typeof touched === "string" && !caller.mayTouch(kind, touched)) {
      throw new Problem("not-yours", `this key may not touch the ${param} ${touched}`);
    }
  }
}

function callerOf(record: KeyRecord): Caller {
  return {
    id: record.id,
    may: (wanted) => record.scopes.includes("admin") || wanted.some((scope) => record.scopes.includes(scope)),
    mayTouch: (kind, touched) => record[kind]?.includes(touched) ?? true,
    maySpeak: () => true,
  };
}

function same(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The refusal of a caller that is not known. */
export const unauthorized = (detail: string) =>
  new Problem("unauthorized", detail, { headers: { "www-authenticate": 'Bearer realm="fleetgate"' } });
