/** An amount in whole micro-tokens; costs below half of one count as none. */
export const toMicro = (amount: number): number => Math.round(amount * 1e6);

/** Micro-tokens as an amount, floored to 3 decimals. */
export const fromMicro = (micro: number): number => Math.floor(micro / 1e3) / 1e3;

/** A rate per second in micro-tokens per second, whole where the decimal number was meant to be. */
export function toMicroRate(rate: number): number {
  const micro = rate * 1e6;
  const whole = Math.round(micro);
  return Math.abs(micro - whole) <= micro * 1e-12 ? whole : micro;
}
