import type { Clock } from "../redis/clock.ts";
import { MAX_POLLS, pollPauseMs } from "./backoff.ts";

/** Asks until `isYes`, for at most `wait_ms` and 40 times, holding nothing between; gives the last answer. */
export async function poll<A>(
  clock: Clock,
  { wait_ms, signal }: { wait_ms: number; signal: AbortSignal },
  ask: () => Promise<A>,
  isYes: (answer: A) => boolean,
): Promise<A> {
  const until = clock.local() + wait_ms;
  for (let count = 1; ; count++) {
    const answer = await ask();
    const left = until - clock.local();
    if (isYes(answer) || left <= 0 || count >= MAX_POLLS || signal.aborted) return answer;
    await clock.sleep(Math.min(left, pollPauseMs(count)), signal);
    // Nobody listens any more, so nothing may be taken for them.
    if (signal.aborted) return answer;
  }
}
