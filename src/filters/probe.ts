import { sha256 } from "../redis/digest.ts";
import type { Size } from "./size.ts";

/** Where an item's bits are in one generation: the shard, and the offsets in it. */
export interface Probe {
  shard: number;
  offsets: number[];
}

/**
 * Places an item's bits by two hashes, cut from the SHA-256 of the generation's secret seed and the item, so that
 * nobody who lacks the seed can choose items that collide. (Dillinger, Manolios 2004: enhanced double hashing.)
 */
export async function probe(
  item: string,
  { bits, hashes, shards, seed }: Size & { seed: string },
): Promise<Probe> {
  const digest = await sha256(`${seed}/${item}`);
  const view = new DataView(digest.buffer, digest.byteOffset);
  const long = (at: number) => view.getUint16(at) * 2 ** 32 + view.getUint32(at + 2);
  const first = long(4) % bits;
  const second = 1 + (long(10) % (bits - 1));
  const offsets = Array.from({ length: hashes }, (_, i) => (first + i * second + (i ** 3 - i) / 6) % bits);
  return { shard: view.getUint32(0) % shards, offsets };
}
