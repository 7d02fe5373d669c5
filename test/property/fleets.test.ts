import fc from "fast-check";
import { expect, inject, test } from "vitest";
import { type Operation, operation } from "./operations.ts";
import { Run } from "./run.ts";

const FLEETS = 20;
const OPERATIONS = 260;

const POD = { through: 0, pod: 0, instance: "2" } as const;

/** An isolate whose answers are dropped never hears that the store does not know a script: so it knows them all. */
const TEACHING: readonly Operation[] = [
  { kind: "beat", ...POD, state: "ready", renew: 0, foreign: false },
  { kind: "acquire", ...POD, class: "normal", request: 1, again: undefined },
  { kind: "release", through: 0, picks: [0], junk: false },
  { kind: "leave", ...POD },
];

/** Runs one sequence; gives what went wrong and how many operations it took. */
async function attempt(
  operations: readonly Operation[],
  place = 0,
): Promise<{ error: unknown; steps: number } | undefined> {
  const run = new Run(place % 5 === 0);
  for (const [at, one] of operations.entries()) {
    try {
      await run.step(one);
    } catch (error) {
      return { error, steps: at + 1 };
    }
  }
  return undefined;
}

/** Leaves out what the failure does not need, for as long as `untilMs` allows. */
async function shrink(operations: readonly Operation[], untilMs: number): Promise<readonly Operation[]> {
  let shortest = operations;
  for (let size = shortest.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < shortest.length && performance.now() < untilMs; ) {
      const shorter = [...shortest.slice(0, from), ...shortest.slice(from + size)];
      const failed = await attempt(shorter);
      if (failed) shortest = shorter.slice(0, failed.steps);
      else from += size;
    }
  }
  return shortest;
}

test("after each of 5,000 random operations through several isolates all that shows equals the model", async () => {
  const seed = inject("seed");
  const sequences = fc.sample(fc.array(operation, { minLength: OPERATIONS, maxLength: OPERATIONS }), {
    seed,
    numRuns: FLEETS,
  });
  expect(sequences.flat().length).toBeGreaterThanOrEqual(5_000);
  expect(await attempt(TEACHING)).toBeUndefined();
  const outcomes = await Promise.all(sequences.map((one, place) => attempt(one, place)));
  const at = outcomes.findIndex((outcome) => outcome !== undefined);
  const failed = outcomes[at];
  if (!failed) return;
  const shortest = await shrink(sequences[at]?.slice(0, failed.steps) ?? [], performance.now() + 60_000);
  const steps = shortest.map((one) => JSON.stringify(one)).join("\n");
  const cause = (await attempt(shortest))?.error ?? failed.error;
  throw new Error(`FLEETGATE_SEED=${seed} finds it again. The model differs after:\n${steps}`, { cause });
}, 600_000);
