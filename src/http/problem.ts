import type { FieldError, ProblemBody, ProblemCode } from "../problems.ts";
import { PROBLEMS } from "../problems.ts";

/** Thrown to answer with a problem; `retryAfterMs` and `headers` go out as headers. */
export class Problem extends Error {
  override name = "Problem";
  readonly code: ProblemCode;
  readonly errors: FieldError[];
  readonly headers: Record<string, string>;

  constructor(
    code: ProblemCode,
    detail: string,
    more: { errors?: FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
  }

  /** A request refused for one field. */
  static field(path: string, message: string): Problem {
    return new Problem("invalid-request", `${path} ${message}`, { errors: [{ path, message }] });
  }
}

/** The HTTP answer of a problem: RFC 9457, with the trace id of the request. */
export function problemResponse(problem: Problem, traceId: string): Response {
  const { status, title } = PROBLEMS[problem.code];
  const body: ProblemBody = {
    type: `urn:fleetgate:problem:${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    ...(problem.errors.length > 0 ? { errors: problem.errors } : {}),
    trace_id: traceId,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/problem+json", "x-request-id": traceId, ...problem.headers },
  });
}
