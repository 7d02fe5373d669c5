import { ProblemError, TaskError, UnavailableError } from "../errors.ts";
import type { ClaimedTask, QueueCalls } from "../queue-calls.ts";

/** How a task's end was taken by the coordinator. */
export type Reported = "completed" | "failed" | "lost" | "unconfirmed";

/** How a handler ended. */
export type Ended = { returned: unknown } | { threw: unknown };

/** The least time an end is repeated without an answer, in milliseconds; beyond it as long as a lease lives. */
const REPORT_MS = 10_000;
/** More of an error's text than the coordinator keeps. */
const ERROR_CHARS = 4_096;
/** The most that a task's delay (ms) and its reason may be. */
const LONGEST_DELAY_MS = 86_400_000;
const REASON_CHARS = 128;

/** Runs a handler to its end; a result that is no JSON counts as thrown. Never rejects. */
export async function endOf(handle: () => unknown): Promise<Ended> {
  try {
    const returned = await handle();
    JSON.stringify(returned);
    return { returned };
  } catch (threw) {
    return { threw };
  }
}

/** Completes or fails a task, repeating until answered; `refused` hears why a result was not taken. Never rejects. */
export async function report(
  calls: QueueCalls,
  lease: ClaimedTask["lease"],
  ended: Ended,
  refused: (error: unknown) => void,
): Promise<Reported> {
  const options = { deadlineMs: Math.max(REPORT_MS, lease.ttl_ms) };
  try {
    if ("returned" in ended) {
      await calls.complete({ lease: lease.id, result: ended.returned }, options);
      return "completed";
    }
    await calls.fail({ lease: lease.id, ...failure(ended.threw) }, options);
    return "failed";
  } catch (error) {
    if (error instanceof UnavailableError) return "unconfirmed";
    if (error instanceof ProblemError && error.code === "stale-lease") return "lost";
    refused(error);
    if (!("returned" in ended)) return "unconfirmed";
    // Doing the task again would only give the same result (over 64 KiB, say).
    const threw = new TaskError(`the result was refused: ${error}`, {
      retry: false,
      reason: "result-refused",
    });
    return report(calls, lease, { threw }, refused);
  }
}

function failure(threw: unknown) {
  const error = textOf(threw).slice(0, ERROR_CHARS);
  if (!(threw instanceof TaskError)) return { error };
  // Made to fit the wire: if it were refused, the task would keep its slot for a ttl and come again.
  const { retry, delayMs, reason } = threw;
  const delay = Math.round(Math.min(Math.max(Number(delayMs), 0), LONGEST_DELAY_MS));
  return {
    error,
    retry: Boolean(retry),
    ...(!Number.isNaN(delay) && { delay_ms: delay }),
    ...(reason !== undefined && { reason: String(reason).slice(0, REASON_CHARS) }),
  };
}

function textOf(threw: unknown): string {
  try {
    return threw instanceof Error && typeof threw.stack === "string" ? threw.stack : String(threw);
  } catch {
    return "something that has no text was thrown";
  }
}
