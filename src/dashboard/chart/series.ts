import type { StatusAnswer } from "../../fleets/schema.ts";
import type { FleetHistory } from "../../operate/schema.ts";

/** One point of the chart; what only the coordinator's samples tell is null in those that the tab took itself. */
export interface Point {
  /** Epoch milliseconds. */
  at: number;
  live: number | null;
  busy: number | null;
  capacity: number | null;
  denials: number | null;
}

/** The points of one fleet that this tab has seen, at most an hour of them. */
export function makeSeen() {
  const KEPT = 1_800;
  const fleets = new Map<string, Point[]>();
  return {
    add({ fleet, live, busy, capacity }: StatusAnswer, at: number) {
      const points = fleets.get(fleet) ?? [];
      fleets.set(fleet, [...points.slice(1 - KEPT), { at, live, busy, capacity, denials: null }]);
    },
    of: (fleet: string): readonly Point[] => fleets.get(fleet) ?? [],
  };
}

/** The coordinator's samples, then what the tab saw since; a hole where a sample is missing. */
export function pointsOf(history: FleetHistory | undefined, seen: readonly Point[]): Point[] {
  const samples = history?.samples ?? [];
  const step = history?.step_ms ?? 60_000;
  const last = samples.at(-1)?.at ?? 0;
  const points = samples.map(({ at, live, busy, capacity, denials }): Point => {
    return { at, live, busy, capacity, denials };
  });
  return holed([...points, ...seen.filter(({ at }) => at > last)], step * 2.5);
}

function holed(points: readonly Point[], longest: number): Point[] {
  return points.flatMap((point, at) => {
    const before = points[at - 1];
    if (!before || point.at - before.at <= longest) return [point];
    return [{ at: before.at + 1, live: null, busy: null, capacity: null, denials: null }, point];
  });
}

/** The chart in one sentence. */
export function summaryOf(points: readonly Point[], span: string): string {
  const range = (pick: (point: Point) => number | null) => {
    const values = points.flatMap((point) => pick(point) ?? []);
    return values.length > 0 ? `${Math.min(...values)} to ${Math.max(...values)}` : "unknown";
  };
  const denials = points.reduce((sum, point) => sum + (point.denials ?? 0), 0);
  return `${span}: live ${range(({ live }) => live)}, busy ${range(({ busy }) => busy)}, ${denials} denials.`;
}
