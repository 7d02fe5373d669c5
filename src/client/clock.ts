/**
 * Milliseconds on a clock that never steps, for durations only. In Node its zero is the same in every thread of the
 * process, which `performance.now()` does not promise.
 */
export function monotonicMs(): number {
  const hrtime = (globalThis as { process?: { hrtime?: { bigint?: () => bigint } } }).process?.hrtime;
  return hrtime?.bigint === undefined ? performance.now() : Number(hrtime.bigint()) / 1e6;
}
