import { unlessAborted } from "../abort.ts";
import { monotonicMs } from "../clock.ts";
import { isRefusal, UnavailableError } from "../errors.ts";
import type { FleetCalls } from "../fleet-calls.ts";
import type { OnUnavailable } from "../options.ts";
import type { BeatState } from "./beater.ts";
import { identityOf } from "./inside.ts";
import type { BeatBody } from "./types.ts";

/** The longest a join that ends without a pod waits for the pod to be out of the count, in milliseconds. */
const BREAK_OFF_MS = 2_000;

/** What the first beat needs; `signal` ends it. */
export interface FirstBeat {
  calls: FleetCalls;
  body: BeatBody;
  state: BeatState;
  onUnavailable: OnUnavailable;
  unavailableAfterMs: number;
  signal: AbortSignal | undefined;
}

/**
 * The first answer and when its beat was sent; undefined when none came and the pod goes on without. Throws ProblemError,
 * the signal's reason, or UnavailableError when closed; then the pod does not count, unless that could not be heard.
 */
export async function firstBeat(first: FirstBeat) {
  const { calls, body, state, onUnavailable, unavailableAfterMs, signal } = first;
  signal?.throwIfAborted();
  const sentAt = monotonicMs();
  const cut = new AbortController();
  const beat = calls.heartbeat({ ...body, state }, { deadlineMs: unavailableAfterMs, signal: cut.signal });
  try {
    const answer = await (signal === undefined ? beat : unlessAborted(beat, signal));
    return { nextHeartbeatMs: answer.next_heartbeat_ms, directive: answer.directive, sentAt };
  } catch (error) {
    if (error instanceof UnavailableError && onUnavailable === "open") return undefined;
    if (!isRefusal(error)) await breakOff(calls, body, beat, cut);
    throw error;
  }
}

/** The beat is heard to its end rather than cut: one that runs after the leaving would count the pod again. */
async function breakOff(
  calls: FleetCalls,
  body: BeatBody,
  beat: Promise<unknown>,
  cut: AbortController,
): Promise<void> {
  const over = setTimeout(() => cut.abort(), BREAK_OFF_MS);
  await beat.catch(() => {});
  await leaveUnmade(calls, body, cut.signal);
  clearTimeout(over);
}

/** Takes a pod that nobody got out of the count. Never rejects. */
export async function leaveUnmade(calls: FleetCalls, body: BeatBody, signal?: AbortSignal): Promise<void> {
  try {
    await calls.leave(identityOf(body), { deadlineMs: BREAK_OFF_MS, signal });
  } catch {
    // It lapses by its ttl.
  }
}
