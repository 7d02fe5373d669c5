/** What a cell stands for. */
export type CellState = "held" | "urgent" | "free" | "reserve" | "over" | "unlived";

/** How slots become pixels: cells of `width` px with `gap` between, each standing for `slots` slots. */
export interface Scale {
  width: number;
  gap: number;
  slots: number;
}

export interface Counts {
  live: number;
  busy: number;
  capacity: number;
  urgent: number;
}

export interface Cell {
  x: number;
  width: number;
  state: CellState;
}

const NARROWEST = 6;
const WIDEST = 56;
/** Room between the last slot that exists and the first that is over. */
export const OVER_GAP = 4;

/** The finest scale at which `total` slots fit into `room` px with cells that can be told apart. */
export function scaleFor(total: number, room: number): Scale {
  let slots = 1;
  for (let step = 0; Math.ceil(total / slots) * NARROWEST > room && step < 30; step++) {
    // 1, 2, 5, 10, 20, 50, …: numbers that people read off a scale.
    slots *= step % 3 === 1 ? 2.5 : 2;
  }
  const width = Math.floor(room / Math.max(1, Math.ceil(total / slots)));
  return { slots, width: Math.max(1, Math.min(WIDEST, width)), gap: width < 10 ? 1 : 2 };
}

/** Where slot number `slot` begins, in px. */
export const xOf = (slot: number, { width, slots }: Scale): number => Math.round((slot / slots) * width);

/**
 * The cells from left to right: held, the urgent last among them, free, the reserve, and what is over.
 * A fleet without a pod still grants one slot, which is `unlived`.
 */
export function cellsOf(counts: Counts, scale: Scale): Cell[] {
  const total = Math.max(counts.live, counts.busy, counts.capacity);
  const inside = Math.ceil(counts.live / scale.slots);
  return Array.from({ length: Math.ceil(total / scale.slots) }, (_, at) => {
    const state =
      at < inside ? stateOf((at + 0.5) * scale.slots, counts) : at < counts.busy ? "over" : "unlived";
    const shift = state === "over" ? OVER_GAP : 0;
    return { x: at * scale.width + shift, width: scale.width - scale.gap, state };
  });
}

/** The state of a place on the scale; the middle of a cell speaks for all of it. */
function stateOf(place: number, { live, busy, capacity, urgent }: Counts): CellState {
  const held = Math.min(busy, live);
  if (place < held) return place < held - urgent ? "held" : "urgent";
  return place < capacity ? "free" : "reserve";
}
