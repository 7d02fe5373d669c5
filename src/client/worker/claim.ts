import { beatDelayMs, lengthen, shorten } from "../backoff.ts";
import { monotonicMs } from "../clock.ts";
import { ProblemError, UnavailableError } from "../errors.ts";
import { newRequestId } from "../ids.ts";
import { type HeldLease, renewed } from "../keeper/held.ts";
import type { Inside } from "../keeper/inside.ts";
import type { ClaimedTask, QueueCalls } from "../queue-calls.ts";
import { sleep } from "../timers.ts";
import { handBack } from "./hand-back.ts";

/** The longest pause between claims that fail, in milliseconds. */
const LONGEST_PAUSE_MS = 10_000;
const SETTLE_MS = 3_000;

/** What claiming needs. `failed` must not throw. */
export interface Claimer {
  calls: QueueCalls;
  pod: Inside;
  waitMs: number;
  failed(error: unknown, failures: number): void;
}

/** A task in hand; times on the monotonic clock. */
export interface Delivery {
  task: ClaimedTask;
  lease: HeldLease;
  softDeadline: number | undefined;
}

/** One logical claim: one request id and what is known of it. */
interface Request {
  id: string;
  max: number;
  denials: number;
  failures: number;
  /** When the last try was sent. */
  sentAt: number;
  /** When the first try was sent that may have been answered with tasks without our hearing of it. */
  unsureSince: number | undefined;
}

const newRequest = (max: number, failures = 0): Request => ({
  id: newRequestId(),
  max,
  denials: 0,
  failures,
  sentAt: 0,
  unsureSince: undefined,
});

/**
 * Asks until there are tasks, at most `max`, whatever happens meanwhile. Rejects when the signal fires, with what was
 * claimed unheard handed back, and when the pod was replaced.
 */
export async function nextTasks(claimer: Claimer, max: number, signal: AbortSignal): Promise<Delivery[]> {
  let request = newRequest(max);
  try {
    for (;;) {
      signal.throwIfAborted();
      const deliveries = await ask(claimer, request, signal);
      if (deliveries === "ended") request = newRequest(max, request.failures);
      else if (deliveries !== "again") return deliveries;
    }
  } catch (error) {
    await settle(claimer, request);
    throw error;
  }
}

/** One try and what follows from it; "ended" asks for a new request id, since this one's tasks came and went unheard. */
async function ask(
  claimer: Claimer,
  request: Request,
  signal: AbortSignal,
): Promise<Delivery[] | "again" | "ended"> {
  request.sentAt = monotonicMs();
  request.unsureSince ??= request.sentAt;
  try {
    const answer = await claimer.calls.claim(bodyOf(claimer, request), { signal, retry: false });
    const { tasks } = answer;
    const deliveries = tasks.length === 0 ? [] : await confirmed(claimer, tasks, request, signal);
    signal.throwIfAborted();
    request.failures = 0;
    request.unsureSince = undefined;
    if (deliveries.length > 0) return deliveries;
    if (tasks.length > 0) return "ended";
    request.denials++;
    await sleep(lengthen(answer.retry_after_ms ?? 1_000), signal);
    return "again";
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof ProblemError && error.code === "stale-instance") {
      request.unsureSince = undefined;
      claimer.pod.replaced();
      throw error;
    }
    return afterFailure(claimer, request, signal, error);
  }
}

async function afterFailure(
  claimer: Claimer,
  request: Request,
  signal: AbortSignal,
  error: unknown,
): Promise<"again" | "ended"> {
  request.failures++;
  claimer.failed(error, request.failures);
  const known = error instanceof UnavailableError || error instanceof ProblemError;
  await sleep(
    beatDelayMs(request.failures, known ? error.retryAfterMs : undefined, LONGEST_PAUSE_MS),
    signal,
  );
  return error instanceof ProblemError && error.code === "request-ended" ? "ended" : "again";
}

/**
 * A lease lives from when its task was claimed, which is known only to lie after the first unheard try. Those that may
 * be old by now are renewed before the work begins.
 */
async function confirmed(
  { pod }: Claimer,
  tasks: ClaimedTask[],
  request: Request,
  signal: AbortSignal,
): Promise<Delivery[]> {
  const heardAt = monotonicMs();
  const { unsureSince: since = heardAt, sentAt, failures } = request;
  const deliveries = tasks.map((task) => deliveryOf(task, since, failures > 0 ? sentAt : undefined, heardAt));
  if (deliveries.every(({ lease }) => heardAt - since < lease.ttlMs / 3)) return deliveries;
  const leases = deliveries.map(({ lease }) => lease.id);
  const answer = await pod.renew(leases, signal);
  return deliveries
    .filter(({ lease }) => !answer.lost.includes(lease.id))
    .map((delivery) => ({ ...delivery, lease: renewed(delivery.lease, answer.sentAt) }));
}

/**
 * Puts a task's times on the monotonic clock: the coordinator's own are compared with nothing but each other. It was
 * claimed after `since`, and where an earlier try may have claimed it, less than a ttl before `repeatedAt`: it lives.
 */
function deliveryOf(
  task: ClaimedTask,
  since: number,
  repeatedAt: number | undefined,
  heardAt: number,
): Delivery {
  const { id, ttl_ms: ttlMs, expires_at } = task.lease;
  const isShort = task.deadline_at <= expires_at;
  // With a time limit that short nothing is known but that it lives; the coordinator ends it.
  const claimedAt = repeatedAt === undefined || isShort ? heardAt : Math.max(since, repeatedAt - ttlMs);
  const here = (at: number) => claimedAt + at - (expires_at - ttlMs);
  return {
    task,
    lease: { id, ttlMs, deadline: since + ttlMs, until: here(task.deadline_at) },
    softDeadline: task.soft_deadline_at === undefined ? undefined : here(task.soft_deadline_at),
  };
}

/**
 * Hands back what a claim that nobody waits for any more may have got: asking again under its id tells, and ends the
 * coordinator's waiting, which does not always hear that its caller hung up.
 */
async function settle(claimer: Claimer, request: Request): Promise<void> {
  if (request.unsureSince === undefined) return;
  try {
    const { tasks } = await claimer.calls.claim(
      { ...bodyOf(claimer, request), wait_ms: 0 },
      { deadlineMs: SETTLE_MS },
    );
    await Promise.all(tasks.map(({ lease }) => handBack(claimer.calls, lease.id, SETTLE_MS)));
  } catch {
    // What it got goes back when the pod leaves, or lapses by its ttl.
  }
}

function bodyOf({ pod, waitMs }: Claimer, { id, max, denials, failures }: Request) {
  return {
    ...pod.identity,
    request_id: id,
    max,
    // Once silence was met a short call tells sooner than a long one whether it is over.
    wait_ms: failures > 0 ? 0 : Math.round(shorten(waitMs)),
    // The hint grows with it. Whoever waits at the coordinator has waited already.
    attempt: waitMs > 0 ? 0 : denials,
  };
}
