import * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { StoreFault } from "../redis/errors.ts";
import type { FilterKeys } from "../redis/keys.ts";
import { type Filter, filterBody } from "./schema.ts";
import { sizeOf } from "./size.ts";

const count = z.int().check(z.minimum(0));

/** One set of bits: its size, its secret seed, and the turn (rotations before it) in which it was started. */
const generation = z.object({
  id: count,
  turn: count,
  bits: z.int().check(z.minimum(2)),
  hashes: z.int().check(z.minimum(1), z.maximum(64)),
  shards: z.int().check(z.minimum(1), z.maximum(1_000)),
  seed: z.string().check(z.minLength(16)),
});
export type Generation = z.output<typeof generation>;

const stored = z.object({
  filter: filterBody,
  turn: count,
  generations: z.array(generation).check(z.minLength(1)),
});

/** A filter at one version: items are added to the first generation and looked for in all. */
export interface Configuration extends z.output<typeof stored> {
  version: string;
}

/** Changes between two rotations each start a generation; so many may be. */
const MAX_GENERATIONS = 8;

/** A first configuration, or the next after a change of size. Throws `invalid-request` after too many changes. */
export function resized(before: Configuration | undefined, filter: Filter): Configuration {
  const generations = before?.generations ?? [];
  if (generations.length >= MAX_GENERATIONS) {
    throw Problem.field(
      "capacity",
      `was changed ${MAX_GENERATIONS - 1} times since the last rotation; rotate first`,
    );
  }
  return started(filter, before?.turn ?? 0, generations);
}

/** The next turn: what was started before the last one is dropped, the rest still answers. */
export function rotated({ filter, turn, generations }: Configuration): Configuration {
  return started(
    filter,
    turn + 1,
    generations.filter((one) => one.turn >= turn),
  );
}

function started(filter: Filter, turn: number, older: Generation[]): Configuration {
  const id = Math.max(-1, ...older.map((one) => one.id)) + 1;
  const fresh = { id, turn, ...sizeOf(filter.capacity, filter.error_rate), seed: random(16) };
  return { version: random(8), filter, turn, generations: [fresh, ...older] };
}

/** The stored form: the version that scripts compare, then the rest. */
export function toText({ version, ...rest }: Configuration): string {
  return `${version} ${JSON.stringify(rest)}`;
}

/** Reads the stored form; undefined for an empty one. Throws StoreFault when it cannot be read. */
export function parseText(text: string): Configuration | undefined {
  if (text === "") return undefined;
  const space = text.indexOf(" ");
  try {
    return { version: text.slice(0, space), ...stored.parse(JSON.parse(text.slice(space + 1))) };
  } catch {
    throw new StoreFault("the stored filter cannot be read; PUT the filter again, which starts it empty");
  }
}

/** Every record of these generations. */
export function shardsOf(keys: FilterKeys, generations: readonly Generation[]): string[] {
  return generations.flatMap(({ id, shards }) =>
    Array.from({ length: shards }, (_, shard) => keys.shard(id, shard)),
  );
}

function random(bytes: number): string {
  const values = crypto.getRandomValues(new Uint8Array(bytes));
  return [...values].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
