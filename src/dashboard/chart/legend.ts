import { html, setText } from "../dom.ts";
import { count } from "../format.ts";
import type { Point } from "./series.ts";

const NAMES = ["busy", "live", "capacity", "denials"] as const;

/** What each line means, with its value where the pointer is, or the latest one. */
export function makeLegend() {
  const time = html("span", { class: "at" });
  const values = Object.fromEntries(NAMES.map((name) => [name, html("b")]));
  const items = NAMES.map((name) =>
    html("li", {}, html("i", { class: `swatch ${name}` }), name, " ", values[name] ?? ""),
  );
  return {
    element: html("ul", { class: "legend", "aria-hidden": "true" }, ...items, html("li", {}, time)),
    update(point: Point | undefined, isAtPointer: boolean) {
      for (const name of NAMES) {
        const value = point?.[name] ?? null;
        const node = values[name];
        if (node) setText(node, value === null ? "–" : count(value));
      }
      setText(time, isAtPointer && point ? new Date(point.at).toLocaleTimeString() : "now");
    },
  };
}
