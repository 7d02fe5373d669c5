import type { ProblemBody } from "../problems.ts";
import { type Call, has } from "./call.ts";
import { ProblemError } from "./errors.ts";

/** How one try ended: with an answer, with a refusal, or with nothing usable (which may be tried again). */
export type Outcome =
  | { kind: "answered"; body: unknown }
  | { kind: "refused"; error: ProblemError }
  | { kind: "failed"; detail: string; traceId?: string | undefined; retryAfterMs?: number | undefined };

/** Judges a whole HTTP answer. Only 503, what gateways say (502, 504, 520…) and broken answers count as failed. */
export function judge(call: Call, status: number, headers: Headers, text: string): Outcome {
  const body = parse(text);
  const traceId = headers.get("x-request-id") ?? undefined;
  const retryAfterMs = retryAfter(headers);
  if (status >= 200 && status < 300) {
    const good = has(body, {}) && call.accepts(body as Record<string, unknown>);
    return good
      ? { kind: "answered", body }
      : { kind: "failed", detail: "the answer was cut or is not ours", traceId };
  }
  const problem = asProblem(body);
  if (status > 501)
    return { kind: "failed", detail: problem?.detail ?? `HTTP ${status}`, traceId, retryAfterMs };
  return {
    kind: "refused",
    error: new ProblemError({
      code: problem?.code ?? "unrecognised",
      status,
      detail: problem?.detail ?? `HTTP ${status} from something that is not the coordinator`,
      errors: Array.isArray(problem?.errors) ? problem.errors : [],
      traceId: problem?.trace_id ?? traceId,
      retryAfterMs,
    }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asProblem(body: unknown): ProblemBody | undefined {
  return has(body, { code: "string", detail: "string", status: "number" })
    ? (body as ProblemBody)
    : undefined;
}

/** The seconds of Retry-After in milliseconds. A date is ignored: it would need two clocks to agree. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : undefined;
}
