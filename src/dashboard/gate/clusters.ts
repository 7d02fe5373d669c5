import { html, setAttributes, setText, svg } from "../dom.ts";
import { keyedList } from "../keyed.ts";
import { makeCellRow } from "./cell-row.ts";
import { cellsOf, type Scale } from "./cells.ts";
import type { Picture } from "./picture.ts";

type Cluster = Picture["clusters"][number];
const HEIGHT = 8;

/** Where the slots are: a small bar for each cluster, in cells of the same width as the gate's. */
export function makeClusters() {
  const element = html("ul", { class: "clusters" });
  let scale: Scale = { width: 1, gap: 0, slots: 1 };
  const show = keyedList<Cluster>(element, ({ name }) => name, makeCluster);

  function makeCluster() {
    const cells = svg("svg", { height: HEIGHT, "aria-hidden": "true" });
    const showCells = makeCellRow(cells, 0);
    const name = html("span", { class: "name" });
    const figures = html("span", { class: "figures" });
    return {
      element: html("li", {}, cells, html("p", {}, name, " ", figures)),
      update(cluster: Cluster) {
        const { live, busy } = cluster;
        const width = showCells(cellsOf({ live, busy, capacity: live, urgent: 0 }, scale), HEIGHT);
        setAttributes(cells, { width });
        setText(name, cluster.name);
        setText(figures, `${busy} of ${live}`);
      },
    };
  }

  return {
    element,
    update(clusters: readonly Cluster[], wanted: Scale) {
      scale = wanted;
      show(clusters);
    },
  };
}
