import { unlessAborted } from "../abort.ts";
import { lengthen, retryDelayMs, shorten } from "../backoff.ts";
import { monotonicMs } from "../clock.ts";
import { isRefusal, NotGrantedError, ProblemError, UnavailableError } from "../errors.ts";
import type { AcquireAnswer, FleetCalls } from "../fleet-calls.ts";
import { newRequestId } from "../ids.ts";
import type { OnUnavailable } from "../options.ts";
import { sleep } from "../timers.ts";
import type { Grant } from "./lease.ts";
import type { AcquireOptions, Identity } from "./types.ts";

/** The longest the server waits for one call, in milliseconds. */
const SERVER_WAIT_MS = 25_000;
/** The longest each of the two calls is tried that give back what nobody waits for, in milliseconds. */
const GIVE_BACK_MS = 5_000;

/** What asking for a slot needs of its pod. */
export interface Asker {
  calls: FleetCalls;
  identity: Identity;
  onUnavailable: OnUnavailable;
  unavailableAfterMs: number;
  timeoutMs: number;
  /** Fires when calls under way may no longer go on. */
  cut: AbortSignal;
  /** Whether the pod holds a lease, by an earlier request of the same id. */
  holds(id: string): boolean;
  /** Renews one lease now; the time it was sent on the monotonic clock, or undefined if the lease is lost. */
  renew(id: string, signal: AbortSignal): Promise<number | undefined>;
}

/** One logical acquire: one request id and what is known of it. */
interface Request {
  id: string;
  denials: number;
  failures: number;
  /** When the first try was sent that may have been granted without our hearing of it. */
  unsureSince: number | undefined;
  /** Since when nothing usable was heard. */
  silentSince: number | undefined;
  /** The try that was sent last. */
  call: Promise<AcquireAnswer> | undefined;
}

const newRequest = (id: string): Request => ({
  id,
  denials: 0,
  failures: 0,
  unsureSince: undefined,
  silentSince: undefined,
  call: undefined,
});

/**
 * Asks until granted, or until `waitMs` ends. Throws NotGrantedError, ProblemError, UnavailableError (closed) or the
 * signal's reason; `abandoned` then hears of the giving back of what may still be granted, which never rejects.
 */
export async function waitForSlot(
  asker: Asker,
  options: AcquireOptions,
  signal: AbortSignal,
  abandoned: (givenBack: Promise<void>) => void,
): Promise<Grant> {
  const waitEnd = monotonicMs() + (options.waitMs ?? 0);
  let request = newRequest(options.requestId ?? newRequestId());
  try {
    for (;;) {
      const grant = await ask(asker, options, request, waitEnd, signal);
      if (grant === "again") continue;
      if (grant !== "ended") return grant;
      // A caller's own id is asked again, to hear the coordinator's word on it.
      request = newRequest(options.requestId ?? newRequestId());
    }
  } catch (error) {
    if (request.unsureSince !== undefined) abandoned(giveBack(asker, options, request));
    throw error;
  }
}

/** One try and what follows from it; "ended" asks for a new request id, since this one's lease came and went unheard. */
async function ask(
  asker: Asker,
  options: AcquireOptions,
  request: Request,
  waitEnd: number,
  signal: AbortSignal,
): Promise<Grant | "again" | "ended"> {
  const sentAt = monotonicMs();
  const longestMs = Math.min(shorten(SERVER_WAIT_MS), Math.max(0, waitEnd - sentAt));
  // Once silence was met a short call tells sooner than a long one whether it is over.
  const waitMs = request.failures > 0 ? 0 : Math.round(longestMs);
  const timeoutMs = Math.min(asker.timeoutMs, asker.unavailableAfterMs);
  request.unsureSince ??= sentAt;
  try {
    request.call = asker.calls.acquire(
      { ...body(asker, options, request), wait_ms: waitMs },
      { signal: asker.cut, timeoutMs, retry: false },
    );
    const answer = await unlessAborted(request.call, signal);
    if (answer.granted) return await confirmed(asker, options, answer.lease, request, signal);
    request.unsureSince = undefined;
    request.silentSince = undefined;
    request.failures = 0;
    request.denials++;
    const pauseMs = lengthen(answer.retry_after_ms);
    if (monotonicMs() + pauseMs > waitEnd) throw new NotGrantedError(answer.reason, answer.retry_after_ms);
    await sleep(pauseMs, signal);
    return "again";
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof UnavailableError) {
      request.silentSince ??= Math.min(monotonicMs(), sentAt + waitMs);
      return afterSilence(asker, options, request, waitEnd, signal, error);
    }
    const mayBeOurs = request.failures > 0 && options.requestId === undefined;
    if (mayBeOurs && error instanceof ProblemError && error.code === "request-ended") return "ended";
    throw error;
  }
}

async function afterSilence(
  asker: Asker,
  options: AcquireOptions,
  request: Request,
  waitEnd: number,
  signal: AbortSignal,
  error: UnavailableError,
): Promise<Grant | "again"> {
  request.failures++;
  const open = asker.onUnavailable === "open";
  const patience = (request.silentSince ?? 0) + asker.unavailableAfterMs;
  const giveUpAt = open ? patience : Math.max(waitEnd, patience);
  const pauseMs = retryDelayMs(request.failures, error.retryAfterMs, giveUpAt - monotonicMs());
  if (pauseMs !== undefined) {
    await sleep(pauseMs, signal);
    return "again";
  }
  if (!open) throw new UnavailableError(request.failures, error);
  return { id: null, ttlMs: null, deadline: null, class: options.class ?? "normal", requestId: request.id };
}

/**
 * A lease lives from when it was granted, which is known only to lie after the first unheard try, and with an id of the
 * caller's own not even that. One that may be old by now is renewed before it is given out, so that its holder starts
 * with a whole ttl.
 */
async function confirmed(
  asker: Asker,
  options: AcquireOptions,
  lease: { id: string; class: string; ttl_ms: number },
  request: Request,
  signal: AbortSignal,
): Promise<Grant | "ended"> {
  const grant = { id: lease.id, class: lease.class, ttlMs: lease.ttl_ms, requestId: request.id };
  const since = request.unsureSince ?? monotonicMs();
  const isNew = options.requestId === undefined && monotonicMs() - since < lease.ttl_ms / 3;
  if (isNew) return { ...grant, deadline: since + lease.ttl_ms };
  const renewedAt = await asker.renew(lease.id, signal);
  return renewedAt === undefined ? "ended" : { ...grant, deadline: renewedAt + lease.ttl_ms };
}

/**
 * Releases what a call that nobody waits for any more may be granted. It is heard to its end rather than cut, since
 * the server may go on waiting for a caller that hung up; if it was cut, asking again under its id tells, and ends that.
 */
async function giveBack(asker: Asker, options: AcquireOptions, request: Request): Promise<void> {
  try {
    const answer = await heardLate(asker, options, request);
    if (answer?.granted && !asker.holds(answer.lease.id))
      await asker.calls.release({ leases: [answer.lease.id] }, { deadlineMs: GIVE_BACK_MS });
  } catch {
    // It lapses by its ttl.
  }
}

/** The answer to the last try; undefined when the only one was refused, so that nothing was ever granted. */
async function heardLate(
  asker: Asker,
  options: AcquireOptions,
  request: Request,
): Promise<AcquireAnswer | undefined> {
  try {
    return await request.call;
  } catch (error) {
    if (request.failures === 0 && isRefusal(error)) return undefined;
    return asker.calls.acquire(body(asker, options, request), { deadlineMs: GIVE_BACK_MS });
  }
}

function body(asker: Asker, options: AcquireOptions, request: Request) {
  return {
    ...asker.identity,
    request_id: request.id,
    attempt: request.denials,
    ...(options.class === undefined ? {} : { class: options.class }),
    ...(options.ttlMs === undefined ? {} : { ttl_ms: options.ttlMs }),
  };
}
