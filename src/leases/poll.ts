import type { Clock } from "../redis/clock.ts";
import { MAX_POLLS, pollPauseMs } from "./backoff.ts";

/**
 * Asks until `isYes`, for at most `wait_ms` and 40 times, holding nothing between; gives the last answer. Turns count
 * from 1.
 */
export async function poll<A>(
  clock: Clock,
  { wait_ms, signal }: { wait_ms: number; signal: AbortSignal },
  ask: (turn: number) => Promise<A>,
  isYes: (answer: A) => boolean,
): Promise<A> {
  const until = clock.local() + wait_ms;
  for (let turn = 1; ; turn++) {
    const answer = await ask(turn);
    const left = until - clock.local();
    if (isYes(answer) || left <= 0 || turn >= MAX_POLLS || signal.aborted) return answer;
    await clock.sleep(Math.min(left, pollPauseMs(turn)), signal);
    // Nobody listens any more, so nothing may be taken for them.
    if (signal.aborted) return answer;
  }
}
