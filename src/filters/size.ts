/** How a generation of a filter is laid out: `shards` records of `bits` bits each, `hashes` bits for an item. */
export interface Size {
  bits: number;
  hashes: number;
  shards: number;
}

/** 32 MiB a record; a store may refuse one of 100 MB. */
const MAX_SHARD_BITS = 2 ** 28;

/** So small a filter costs nothing, and positions would meet too often in less. */
const MIN_BITS = 1_024;

/** The smallest filter that holds `capacity` items at a share of `errorRate` false answers: −n·ln p ÷ ln²2 bits. */
export function sizeOf(capacity: number, errorRate: number): Size {
  const bits = Math.max(MIN_BITS, Math.ceil((capacity * -Math.log(errorRate)) / Math.LN2 ** 2));
  const shards = Math.ceil(bits / MAX_SHARD_BITS);
  return {
    bits: Math.ceil(bits / shards),
    hashes: Math.max(1, Math.round(-Math.log2(errorRate))),
    shards,
  };
}
