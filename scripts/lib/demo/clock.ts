/**
 * Milliseconds on a clock that never steps. On one machine its zero is the same for every process, so that what
 * different processes write down can be put in order.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
