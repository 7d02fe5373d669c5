import type { CallOptions } from "./options.ts";

/** One call of the wire, ready to be sent any number of times. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
  /** How long the server may hold the call before it answers, in milliseconds. */
  waitMs?: number | undefined;
  /** Whether an answer has what its reader relies on; one that has not is taken for no answer at all. */
  accepts: (answer: Record<string, unknown>) => boolean;
  /** Makes of the answer what the caller gets, where that needs the answer's own text. */
  read?: (answer: never, text: string) => unknown;
}

/** Sends a call, with retries; resolves to its answer. Throws ProblemError, UnavailableError or a signal's reason. */
export type Send = <Answer>(call: Call, options?: CallOptions) => Promise<Answer>;

type Kind = "string" | "number" | "boolean" | "object" | "array";

/** Whether a value is an object whose named fields are of the given kinds. */
export function has(value: unknown, fields: Record<string, Kind>): boolean {
  if (kindOf(value) !== "object") return false;
  return Object.entries(fields).every(
    ([name, kind]) => kindOf((value as Record<string, unknown>)[name]) === kind,
  );
}

/** A name as one path segment; throws a TypeError for one that would change the path. */
export function segment(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new TypeError(`not a name: "${name}"`);
  return encodeURIComponent(name);
}

/** Pairs as a query string with its question mark; undefined values are left out. */
export function query(pairs: Record<string, string | number | undefined>): string {
  const given = Object.entries(pairs).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
