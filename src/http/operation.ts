import type * as z from "zod/mini";
import type { Caller, Scope } from "./auth.ts";

/** A checked call: path parameters, query and body in the shapes of the operation, and who calls. */
export interface Call<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** The body as it was sent, for the values that are kept as text. */
  text: string;
  caller: Caller;
  /** A request header, for what travels in no field. */
  header(name: string): string | undefined;
  /** Aborts when the caller hung up. */
  signal: AbortSignal;
}

/**
 * An answer with its headers, 200 unless it says so. `json` is the body as text, where values go out as they came;
 * `content` is the body of an operation that answers in another media type.
 */
export interface Reply<Answer> {
  body: Answer;
  json?: string;
  content?: string | ReadableStream;
  status?: 200 | 201;
  headers?: Record<string, string>;
}

/** One call of the wire: the schemas check it, the documentation is made from them, `handle` decides. */
export interface Operation {
  id: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** With parameters in braces, as OpenAPI writes them. */
  path: string;
  summary: string;
  /** Any of these will do; `admin` always does. */
  scopes: readonly Scope[];
  params: z.ZodMiniObject;
  query?: z.ZodMiniObject;
  body?: z.ZodMiniType;
  answer: z.ZodMiniType;
  /** The statuses of a good answer, where they are more than 200. */
  statuses?: readonly (200 | 201)[];
  /** Of the answer, where it is no JSON. */
  media?: string;
  handle(call: Call<never, never, never>): Promise<Reply<unknown>>;
}

type Out<S> = S extends z.ZodMiniType ? z.output<S> : undefined;

/** Declares an operation; `handle` gets what the schemas give. */
export function operation<
  P extends z.ZodMiniObject,
  Q extends z.ZodMiniObject,
  B extends z.ZodMiniType,
  A extends z.ZodMiniType,
>(
  definition: Omit<Operation, "params" | "query" | "body" | "answer" | "handle"> & {
    params: P;
    query?: Q;
    body?: B;
    answer: A;
    handle(call: Call<Out<P>, Out<Q>, Out<B>>): Promise<Reply<z.output<A>>>;
  },
): Operation {
  return definition as unknown as Operation;
}
