/** A class's share as a whole number of ten-thousandths, so that floor(0.29 · 100) is 29. */
export const tenThousandths = (ratio: number): number => Math.round(ratio * 10_000);

/** The pods a class needs to hold `demand` slots: the least N with floor(ratio · N) ≥ demand, in whole numbers. */
export function podsFor(demand: number, ratio: number): number {
  return Math.ceil((demand * 10_000) / tenThousandths(ratio));
}

/** Slots a class may hold at `live` pods: max(1, floor(ratio · live)); DESIGN 1.2. The dashboard's preview uses it too. */
export function capacityOf(live: number, ratio: number): number {
  return Math.max(1, Math.floor((tenThousandths(ratio) * live) / 10_000));
}
