import { retryDelayMs } from "./backoff.ts";
import type { Call, Send } from "./call.ts";
import { monotonicMs } from "./clock.ts";
import { UnavailableError } from "./errors.ts";
import type { CallOptions, Settings } from "./options.ts";
import { sleep } from "./timers.ts";
import { tryOnce } from "./try.ts";

/** Makes the one door to the coordinator: it repeats a call that got no usable answer until the call's deadline. */
export function createTransport(settings: Settings): Send {
  return async <Answer>(call: Call, options: CallOptions = {}): Promise<Answer> => {
    options.signal?.throwIfAborted();
    // Once: what cannot be sent is the caller's error, and what the caller changes meanwhile is no other call.
    const sent = { ...call, text: call.body === undefined ? undefined : JSON.stringify(call.body) };
    const heldMs = call.waitMs ?? 0;
    const deadline = monotonicMs() + heldMs + (options.deadlineMs ?? settings.deadlineMs);
    const timeoutMs = heldMs + (options.timeoutMs ?? settings.timeoutMs);
    for (let attempts = 1; ; attempts++) {
      const leftMs = Math.max(1, deadline - monotonicMs());
      const outcome = await tryOnce(settings, sent, Math.min(timeoutMs, leftMs), options.signal);
      if (outcome.kind === "answered") return outcome.body as Answer;
      if (outcome.kind === "refused") throw outcome.error;
      const pauseMs = retryDelayMs(attempts, outcome.retryAfterMs, deadline - monotonicMs());
      if (options.retry === false || pauseMs === undefined) throw new UnavailableError(attempts, outcome);
      await sleep(pauseMs, options.signal);
    }
  };
}
