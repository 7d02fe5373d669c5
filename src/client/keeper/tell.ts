/** Runs a caller's function in a turn of its own, so that what it throws is its own and not the keeper's. */
export function tell(run: () => void): void {
  queueMicrotask(run);
}
