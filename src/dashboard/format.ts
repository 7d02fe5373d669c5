const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

/** A number with thousands apart. */
export const count = (value: number): string => numbers.format(value);

/** A part of a whole, floored to three figures of the whole, so that what is told never is more than is there. */
export function share(part: number, whole: number): string {
  const digits = Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(whole))));
  return count(Math.floor(part * 10 ** digits) / 10 ** digits);
}

/** A duration as people say it, with two units at most: 450 ms, 24 s, 3 min 5 s, 2 h 10 min, 3 d 4 h. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return two(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) return two(Math.floor(seconds / 3_600), "h", Math.floor(seconds / 60) % 60, "min");
  return two(Math.floor(seconds / 86_400), "d", Math.floor(seconds / 3_600) % 24, "h");
}

const two = (large: number, unit: string, small: number, smaller: string) =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;

/** A duration in whole seconds, for what is read while it runs down. */
export const secondsLeft = (ms: number): string => duration(Math.ceil(ms / 1_000) * 1_000 || 0);

/** One thing or several: `several(1, "pod")` is "1 pod". */
export const several = (amount: number, thing: string): string =>
  `${count(amount)} ${thing}${amount === 1 ? "" : "s"}`;
