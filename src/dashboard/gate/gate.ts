import { setAttributes, setText, svg } from "../dom.ts";
import { makeCellRow } from "./cell-row.ts";
import { cellsOf, type Scale, xOf } from "./cells.ts";
import { makeMark } from "./mark.ts";
import type { Picture } from "./picture.ts";

const LABELS = 20;
const OVERHANG = 5;
/** Two labels nearer than this would run into each other. */
const LABEL_ROOM = 28;

/** The bar of a fleet: N cells, a line at capacity, and beyond the end what is over. */
export function makeGate() {
  const cells = svg("g");
  const show = makeCellRow(cells, LABELS);
  const end = makeMark("end", LABELS, OVERHANG);
  const ghost = makeMark("ghost", LABELS, OVERHANG);
  const line = makeMark("line", LABELS, OVERHANG);
  const over = svg("text", { class: "over-label", y: LABELS - OVERHANG - 3 });
  const marks = [end.element, line.element, ghost.element];
  const element = svg("svg", { role: "img", class: "gate" }, cells, ...marks, over);

  return {
    element,
    /** Draws at a scale, `height` px high; `preview` is a capacity that is being thought about. */
    update(picture: Picture, scale: Scale, height: number, preview?: number) {
      const { live, capacity, overBy } = picture;
      const width = show(cellsOf(picture, scale), height);
      const at = (slot: number) => xOf(slot, scale) - scale.gap / 2;
      const [lineX, endX] = [at(capacity), at(live)];
      const isRoomy = Math.abs(endX - lineX) > LABEL_ROOM;
      line.update(lineX, height, String(capacity));
      end.update(live > 0 ? endX : undefined, height, isRoomy ? String(live) : "", overBy > 0);
      ghost.update(preview === undefined ? undefined : at(preview), height, String(preview));
      setText(over, overBy > 0 ? `+${overBy}` : "");
      setAttributes(over, { x: (isRoomy ? endX : Math.max(endX, lineX)) + 18 });
      setAttributes(element, {
        width: Math.max(width, lineX, endX) + OVERHANG,
        height: LABELS + height + OVERHANG,
      });
    },
  };
}
