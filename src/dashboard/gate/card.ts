import { html, setAttributes, setText } from "../dom.ts";
import { hrefOf, type Tab } from "../route.ts";
import { scaleFor } from "./cells.ts";
import { makeClusters } from "./clusters.ts";
import { makeFigures } from "./figures.ts";
import { makeGate } from "./gate.ts";
import { type Picture, sentenceOf } from "./picture.ts";

const HEIGHT = { selected: 40, other: 22 };
const CLUSTER_GAP = 16;
/** Room for the line's overhang and the label of what is over. */
const MARGIN = 24;

/** What a card shows: the picture, and whether it is the fleet looked at. */
export interface CardState {
  picture: Picture;
  isSelected: boolean;
  tab: Tab;
  /** A capacity being thought about in the policy form. */
  preview: number | undefined;
}

/** One fleet: its name, its four numbers, its gate and where its slots are. */
export function makeCard() {
  const link = html("a");
  const tags = html("span", { class: "tags" });
  const figures = makeFigures();
  const gate = makeGate();
  const clusters = makeClusters();
  const scaleNote = html("p", { class: "scale-note" });
  const drawing = html("div", { class: "drawing" }, gate.element, clusters.element, scaleNote);
  const element = html(
    "article",
    { class: "fleet" },
    html("h2", {}, link, tags),
    html("div", { class: "fleet-body" }, figures.element, drawing),
  );
  let state: CardState | undefined;
  let room = 0;

  function draw() {
    if (!state || room === 0) return;
    const { picture, preview, isSelected } = state;
    const gaps = Math.max(0, picture.clusters.length - 1) * CLUSTER_GAP;
    const total = Math.max(picture.live, picture.busy, picture.capacity);
    const scale = scaleFor(total, Math.max(120, room - MARGIN - gaps));
    gate.update(picture, scale, isSelected ? HEIGHT.selected : HEIGHT.other, preview);
    clusters.update(picture.clusters, scale);
    setText(scaleNote, scale.slots > 1 ? `one cell is ${scale.slots} slots` : "");
  }

  new ResizeObserver(([entry]) => {
    room = Math.floor(entry?.contentRect.width ?? 0);
    draw();
  }).observe(drawing);

  return {
    element,
    update(next: CardState) {
      state = next;
      const { picture, isSelected, tab } = next;
      setText(link, picture.fleet);
      setAttributes(link, {
        href: hrefOf(picture.fleet, tab),
        "aria-current": isSelected ? "true" : undefined,
      });
      const said = [picture.paused && "paused", picture.live === 0 && "no live pod"].filter(Boolean);
      setText(tags, said.join(" · "));
      setAttributes(element, { "data-fleet": picture.fleet, "data-selected": isSelected });
      figures.update(picture);
      // Told at once: what is drawn waits until the room for it is known.
      setAttributes(gate.element, { "aria-label": sentenceOf(picture) });
      draw();
    },
  };
}
