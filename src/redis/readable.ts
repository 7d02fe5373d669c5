import { StoreFault } from "./errors.ts";

/** A name in a list whose records cannot be read, and what to do about it. */
export interface Broken {
  name: string;
  detail: string;
}

/** What could be read of a list, and what could not. */
export interface Readable<T> {
  rows: T[];
  broken: Broken[];
}

/**
 * Reads each of a list on its own, so that broken records hide no others: `read` gives a row, undefined for what is not
 * there, or throws StoreFault for what cannot be read.
 */
export function readEach<T>(
  names: readonly string[],
  read: (name: string, at: number) => T | undefined,
): Readable<T> {
  const rows: T[] = [];
  const broken: Broken[] = [];
  for (const [at, name] of names.entries()) {
    try {
      const row = read(name, at);
      if (row !== undefined) rows.push(row);
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      broken.push({ name, detail: error.message });
    }
  }
  return { rows, broken };
}

/** The part of an answer that tells what is broken; none where nothing is. */
export const toldBroken = (broken: readonly Broken[]): { broken?: Broken[] } =>
  broken.length > 0 ? { broken: [...broken] } : {};
