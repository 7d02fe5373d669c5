/** A header tells whole seconds, so clocks that differ by less are taken for one. */
const PRECISION_MS = 1_500;
let ahead = 0;

/** Hears the time that the coordinator puts on its answers. */
export function hearDate(header: string | null): void {
  const apart = Date.parse(header ?? "") + 500 - Date.now();
  if (Math.abs(apart - ahead) > PRECISION_MS) ahead = Math.abs(apart) > PRECISION_MS ? apart : 0;
}

/** The coordinator's time in epoch ms: what it tells of is dated by it, and the browser's own clock may be wrong. */
export const now = (): number => Date.now() + ahead;
