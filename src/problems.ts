/**
 * Every problem code of the wire, with the HTTP status and title it travels under (RFC 9457).
 * Shared by the server, which answers with them, and the clients, which read them.
 */
export const PROBLEMS = {
  "invalid-request": { status: 400, title: "The request is not valid" },
  "unknown-class": { status: 400, title: "The policy has no such class" },
  "cost-exceeds-capacity": { status: 400, title: "The cost can never be met" },
  "spans-shards": { status: 400, title: "The call spans records that live apart" },
  unauthorized: { status: 401, title: "A valid key is needed" },
  "wrong-scope": { status: 403, title: "The key lacks the scope for this call" },
  "not-yours": { status: 403, title: "The key may not touch this name" },
  "not-found": { status: 404, title: "Not found" },
  "unknown-request": { status: 404, title: "No such request" },
  "method-not-allowed": { status: 405, title: "Method not allowed" },
  "stale-instance": { status: 409, title: "A newer instance of this pod is live" },
  "request-ended": { status: 409, title: "The lease of this request has ended" },
  "stale-lease": { status: 409, title: "Not the current delivery" },
  "id-conflict": { status: 409, title: "The id is taken by another body" },
  "fleet-fixed": { status: 409, title: "The fleet of a queue cannot change" },
  "too-large": { status: 413, title: "Too large" },
  "queue-full": { status: 429, title: "The queue is full" },
  internal: { status: 500, title: "Internal error" },
  "store-unavailable": { status: 503, title: "The store cannot be reached" },
} as const;

/** A problem's name on the wire, in the field `code`. */
export type ProblemCode = keyof typeof PROBLEMS;

/** One field that was refused: `path` in dots from the root of the body, query or path, and why. */
export interface FieldError {
  path: string;
  message: string;
}

/** The body of every error answer, `application/problem+json`. */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
  errors?: FieldError[];
  trace_id: string;
}
