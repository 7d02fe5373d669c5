import type { Ground } from "../redis/ground.ts";

/** Nobody needs a key to ask, so the store is asked at most once a second. */
const MEMORY_MS = 1_000;

/** Whether the store answers. */
export function makeReady({ store, clock }: Ground) {
  let known: { ready: boolean; until: number } | undefined;

  return async function ready(): Promise<boolean> {
    if (known && clock.local() < known.until) return known.ready;
    // While one asks, others hear what was last known.
    if (known) known.until = clock.local() + MEMORY_MS;
    const answer = await store.time().then(
      () => true,
      () => false,
    );
    known = { ready: answer, until: clock.local() + MEMORY_MS };
    return answer;
  };
}
