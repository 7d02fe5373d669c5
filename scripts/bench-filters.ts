import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Filter } from "../src/client/index.ts";
import { startStack } from "./lib/stack.ts";

const STEP = 1_000;
const AT_ONCE = 2;

/** What a filled filter answered: shares of wrong answers, and seconds. */
export interface FilterResult {
  items: number;
  lost: number;
  wrongShare: number;
  addSeconds: number;
  checkSeconds: number;
}

/**
 * Fills a filter of 1 % with `items`, half of them before a rotation and a change of size, and asks for all of them and
 * for a tenth as many strangers.
 */
export async function benchFilters(items = 1_000_000): Promise<FilterResult> {
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-bench-"));
  const stack = await startStack({ dir, port: 0 });
  try {
    const filter = createClient({ ...stack, timeoutMs: 30_000, deadlineMs: 120_000 }).filter("bench");
    await filter.put({ capacity: items, error_rate: 0.01 });
    const addSeconds = await seconds(async () => {
      await eachStep(items / 2, "in", 0, async (names) => void (await filter.add(names)));
      await filter.rotate();
      await filter.put({ capacity: items + 1, error_rate: 0.01 });
      await eachStep(items / 2, "in", items / 2, async (names) => void (await filter.add(names)));
    });
    let lost = 0;
    const checkSeconds = await seconds(async () => {
      lost = await count(filter, items, "in", false);
    });
    const strangers = items / 10;
    const wrong = await count(filter, strangers, "out", true);
    return { items, lost, wrongShare: wrong / strangers, addSeconds, checkSeconds };
  } finally {
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function count(filter: Filter, items: number, kind: string, answer: boolean): Promise<number> {
  let found = 0;
  await eachStep(items, kind, 0, async (names) => {
    found += (await filter.check(names)).filter((present) => present === answer).length;
  });
  return found;
}

/** Calls with names in steps of 1,000, two at once. */
async function eachStep(
  items: number,
  kind: string,
  first: number,
  call: (names: string[]) => Promise<void>,
): Promise<void> {
  let next = first;
  const loop = async () => {
    while (next < first + items) {
      const from = next;
      next += STEP;
      await call(Array.from({ length: STEP }, (_, at) => `${kind}-${from + at}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

if (import.meta.main) console.log(await benchFilters(Number(process.argv[2] ?? 1_000_000)));
