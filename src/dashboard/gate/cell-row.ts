import { setAttributes, svg } from "../dom.ts";
import { keyedList } from "../keyed.ts";
import type { Cell } from "./cells.ts";

/** Draws a row of cells into `parent`, each keeping its element so that a change of state fades. Gives the row's width. */
export function makeCellRow(parent: SVGElement, y: number) {
  let height = 0;
  const show = keyedList<Cell & { at: number }>(
    parent,
    ({ at }) => String(at),
    () => {
      const element = svg("rect", { y, rx: 1.5 });
      const update = ({ x, width, state }: Cell) =>
        setAttributes(element, { x, width, height, class: `cell ${state}` });
      return { element, update };
    },
  );
  return (cells: readonly Cell[], wantedHeight: number): number => {
    height = wantedHeight;
    show(cells.map((cell, at) => ({ ...cell, at })));
    const last = cells.at(-1);
    return last ? last.x + last.width : 0;
  };
}
