import type { FleetHistory } from "../../operate/schema.ts";
import { now } from "../clock.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { makeLegend } from "./legend.ts";
import { makePlot } from "./plot.ts";
import { type Point, pointsOf, summaryOf } from "./series.ts";

export type Span = "1h" | "24h";
const SPANS = {
  "1h": { ms: 3_600_000, label: "1 hour", words: "The last hour" },
  "24h": { ms: 86_400_000, label: "24 hours", words: "The last day" },
};
const SHORTEST_MS = 120_000;

/** The chart of the last hour or day; `onSpan` hears when the other one is wanted. */
export function makeChart(onSpan: (span: Span) => void) {
  let span: Span = "1h";
  let points: Point[] = [];
  let plot: ReturnType<typeof makePlot> | undefined;
  let width = 0;
  let hasHistory = false;
  const legend = makeLegend();
  const frame = html("div", { class: "plot" });
  const note = html("p", { class: "chart-note" });
  const heading = html("h2");
  const summary = html("p", { class: "unseen" });
  const choices = (Object.keys(SPANS) as Span[]).map((one) => {
    const pressed = String(one === span);
    const button = html("button", { type: "button", text: SPANS[one].label, "aria-pressed": pressed });
    button.addEventListener("click", () => choose(one));
    return [one, button] as const;
  });
  const spans = html("div", { class: "spans", role: "group", "aria-label": "Time shown" });
  spans.append(...choices.map(([, button]) => button));
  const head = html("div", { class: "chart-head" }, heading, legend.element, spans);

  function choose(wanted: Span) {
    span = wanted;
    for (const [one, button] of choices) setAttributes(button, { "aria-pressed": String(one === span) });
    onSpan(span);
  }

  function draw() {
    if (width === 0) return;
    plot ??= makePlot(frame, width, (at) => legend.update(points[at ?? points.length - 1], at !== undefined));
    const end = now();
    // With nothing but what the page saw, an empty hour would hide it.
    const first = hasHistory ? 0 : Math.min(points[0]?.at ?? end, end - SHORTEST_MS);
    plot.show(points, Math.max(first, end - SPANS[span].ms), end);
  }

  function makeAgain() {
    plot?.destroy();
    plot = undefined;
    draw();
  }

  new ResizeObserver(([entry]) => {
    const wanted = Math.floor(entry?.contentRect.width ?? 0);
    if (wanted === width) return;
    width = wanted;
    if (plot && width > 0) plot.resize(width);
    else draw();
  }).observe(frame);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", makeAgain);

  return {
    element: html("section", { class: "chart", "aria-label": "History" }, head, frame, note, summary),
    get span() {
      return span;
    },
    update(fleet: string, history: FleetHistory | undefined, seen: readonly Point[]) {
      hasHistory = history !== undefined && history.samples.length > 0;
      points = pointsOf(history, seen);
      setText(heading, fleet);
      setText(note, hasHistory ? "" : "No history yet: this is what the page has seen since it was opened.");
      setText(summary, summaryOf(points, SPANS[span].words));
      legend.update(points.at(-1), false);
      draw();
    },
  };
}
