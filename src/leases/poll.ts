import type { Clock } from "../redis/clock.ts";
import { BoundedMap } from "../redis/memory.ts";
import { MAX_POLLS, pollPauseMs } from "./backoff.ts";

/** How long a call may wait, whether its caller hung up, and what tells its request from others', if that has a name. */
export interface Wait {
  wait_ms: number;
  signal: AbortSignal;
  name?: string | undefined;
}

/**
 * Makes what asks until `isYes`, for at most `wait_ms` and 40 times, holding nothing between, and gives the last answer.
 * That a caller hung up is not always heard, so a repeat that does not wait ends the wait of earlier calls: whoever asks
 * to know now no longer listens to those.
 */
export function makePoll(clock: Clock) {
  const repeated = new BoundedMap<string, number>(4_000);
  let calls = 0;

  return async function poll<A>(
    { wait_ms, signal, name = "" }: Wait,
    ask: () => Promise<A>,
    isYes: (answer: A) => boolean,
  ): Promise<A> {
    const call = ++calls;
    const until = clock.local() + wait_ms;
    if (wait_ms === 0) repeated.set(name, call);
    // Nobody listens any more, so nothing may be taken for them.
    const isOver = () => signal.aborted || (name !== "" && (repeated.get(name) ?? 0) > call);
    for (let count = 1; ; count++) {
      const answer = await ask();
      const left = until - clock.local();
      if (isYes(answer) || left <= 0 || count >= MAX_POLLS || isOver()) return answer;
      await clock.sleep(Math.min(left, pollPauseMs(count)), signal);
      if (isOver()) return answer;
    }
  };
}
