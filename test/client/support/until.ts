import { sleep } from "../../../src/client/timers.ts";

/** Polls until the condition holds; throws after `limitMs` naming what it waited for. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 8_000,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await sleep(5);
  }
}
