import { setTimeout as delay } from "node:timers/promises";
import type { Outages } from "./coordinator.ts";
import type { Crew } from "./crew.ts";
import { drain, kill, restart, scale } from "./scale.ts";

/** What befalls the processes: when (as a share of the time they have), in words, and the deed. */
export interface Step {
  at: number;
  say: string;
  run(): void | Promise<void>;
}

const SKIPPED = "the coordinator was given, so its store is left alone: this outage is skipped";
const LONGEST_HANG_MS = 5_000;
const CRASH_MS = 500;

/** What happens to the workers of a demo that acts for `activeMs`; outages only where the store is the demo's own. */
export function workerSteps(crew: Crew, program: string, activeMs: number, outages?: Outages): Step[] {
  const hangMs = Math.round(Math.min(LONGEST_HANG_MS, Math.max(1_500, activeMs * 0.1)));
  return [
    { at: 0.08, say: "gcp scales up: 4 → 8", run: () => scale(crew, program, "gcp", 8) },
    { at: 0.22, say: "two pods of gcp are killed (SIGKILL)", run: () => void kill(crew, "gcp", 2) },
    {
      at: 0.3,
      say: "aws/worker-0 is killed and starts again under its old name",
      run: () => restart(crew, program, "aws"),
    },
    { at: 0.38, say: "two pods of lab get SIGTERM and drain", run: () => drain(crew, "lab", 2) },
    {
      at: 0.46,
      say: outages ? `Redis hangs for ${(hangMs / 1_000).toFixed(1)} s (SIGSTOP)` : SKIPPED,
      run: () => outages?.hang(hangMs),
    },
    { at: 0.68, say: "gcp scales down: 6 → 3", run: () => scale(crew, program, "gcp", 3) },
    {
      at: 0.78,
      say: outages ? "Redis dies (SIGKILL) and starts again on its data" : SKIPPED,
      run: () => outages?.crash(CRASH_MS),
    },
    { at: 0.88, say: "lab scales up: 2 → 5", run: () => scale(crew, program, "lab", 5) },
  ];
}

/** Takes the steps in order, each at its time, until all are done or the signal fires; `tell` hears of each. */
export async function play(
  steps: Step[],
  activeMs: number,
  signal: AbortSignal,
  tell: (text: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  for (const { at, say, run } of steps.toSorted((one, other) => one.at - other.at)) {
    await delay(Math.max(0, startedAt + at * activeMs - performance.now()), undefined, { signal });
    tell(say);
    await run();
  }
  await delay(Math.max(0, startedAt + activeMs - performance.now()), undefined, { signal });
}
