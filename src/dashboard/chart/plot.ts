import uPlot from "uplot";
import type { Point } from "./series.ts";

const HEIGHT = 190;
const FONT = "11px ui-sans-serif, system-ui, sans-serif";

type Name = "busy" | "live" | "capacity" | "denials";
/** What the pointer is on; undefined when it is nowhere. */
export type Cursor = (point: number | undefined) => void;

const times: uPlot.Axis.Values = (_, splits, __, ___, step) => {
  const seconds = step < 60 ? ({ second: "2-digit" } as const) : {};
  const form = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", ...seconds });
  return splits.map((at) => form.format(at * 1_000));
};

/** The line chart in `parent`. Its colours are those of the style sheet at the time of making. */
export function makePlot(parent: HTMLElement, width: number, onCursor: Cursor) {
  const colour = (name: string) => {
    // A custom property still says light-dark(); only a real property says which.
    parent.style.color = `var(--chart-${name})`;
    return getComputedStyle(parent).color;
  };
  const scales: uPlot.Scales = {
    x: { time: true },
    y: { range: (_, __, most) => [0, Math.max(1, Math.ceil((most ?? 1) * 1.1))] },
    // Denials stand in the lowest quarter, so that they never hide the lines.
    denials: { range: (_, __, most) => [0, Math.max(4, (most ?? 1) * 4)] },
  };
  const line = (name: Name, more: Partial<uPlot.Series> = {}): uPlot.Series => {
    const paths = uPlot.paths.stepped?.({ align: 1 });
    return {
      label: name,
      stroke: colour(name),
      width: 1.5,
      points: { show: false },
      ...(paths && { paths }),
      ...more,
    };
  };
  const bars = uPlot.paths.bars?.({ size: [0.6, 6], align: 1 });
  const axis = {
    stroke: colour("text"),
    font: FONT,
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { show: false },
  };
  const options: uPlot.Options = {
    width,
    height: HEIGHT,
    padding: [8, 26, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
    scales,
    axes: [
      { ...axis, grid: { show: false }, values: times, size: 28, space: 70 },
      {
        ...axis,
        size: 40,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000],
      },
    ],
    series: [
      {},
      line("denials", { scale: "denials", fill: colour("denials"), width: 0, ...(bars && { paths: bars }) }),
      line("live", { width: 1 }),
      line("capacity", { dash: [5, 4] }),
      line("busy", { fill: colour("busy-fill") }),
    ],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
  };
  const plot = new uPlot(options, [[], [], [], [], []], parent);
  // The picture is told in words beside it.
  plot.root.setAttribute("aria-hidden", "true");
  return {
    show(points: readonly Point[], from: number, to: number) {
      const column = (name: Name) => points.map((point) => point[name]);
      const data = [
        points.map(({ at }) => at / 1_000),
        column("denials"),
        column("live"),
        column("capacity"),
        column("busy"),
      ];
      plot.batch(() => {
        plot.setData(data as uPlot.AlignedData);
        plot.setScale("x", { min: from / 1_000, max: to / 1_000 });
      });
    },
    resize: (wanted: number) => plot.setSize({ width: wanted, height: HEIGHT }),
    destroy: () => plot.destroy(),
  };
}
