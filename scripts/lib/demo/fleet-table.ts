import type { StatusAnswer } from "../../../src/client/index.ts";
import type { Crew } from "./crew.ts";
import { followJournal } from "./journal.ts";
import type { PodLine } from "./lines.ts";
import { CLUSTERS } from "./scale.ts";

/** What the pods have written down so far, counted. */
export interface Tally {
  grants: number;
  high: number;
  degraded: number;
  denials: number;
  finished: number;
  lost: number;
}

/** Makes a counter over the growing journals of a crew; each call reads only what is new. */
export function makeTally(crew: Crew): () => Tally {
  const tally: Tally = { grants: 0, high: 0, degraded: 0, denials: 0, finished: 0, lost: 0 };
  const readers = new Map<string, () => PodLine[]>();
  function count(line: PodLine): void {
    if (line.event === "granted") {
      tally.grants++;
      if (line.class === "high") tally.high++;
      if (line.degraded) tally.degraded++;
    } else if (line.event === "answered") {
      if (line.granted === false) tally.denials++;
    } else if (line.event === "lost") tally.lost++;
    else if (line.event === "released" && line.how !== "lost") tally.finished++;
  }
  return () => {
    for (const { file } of crew.records()) {
      if (!readers.has(file)) readers.set(file, followJournal<PodLine>(file));
      for (const line of readers.get(file)?.() ?? []) count(line);
    }
    return tally;
  };
}

/** The table of a fleet: its clusters with their processes and counts, the whole, and what the pods did. */
export function fleetTable(crew: Crew, status: StatusAnswer | undefined, tally: Tally): string[] {
  const row = (name: string, ...cells: (string | number | undefined)[]) =>
    name.padEnd(10) + cells.map((cell) => String(cell ?? "?").padStart(11)).join("");
  const clusters = Object.keys(CLUSTERS).map((name) => {
    const { live, busy } = status?.clusters[name] ?? (status ? { live: 0, busy: 0 } : {});
    return row(name, crew.running(name).length, live, busy);
  });
  const high = status?.classes.high?.capacity;
  const sum =
    `N ${status?.live ?? "?"}  busy ${status?.busy ?? "?"}  capacity ${status?.capacity ?? "?"} ` +
    `(high ${high ?? "?"})${status?.over_by ? `  over by ${status.over_by}` : ""}`;
  const did =
    `grants ${tally.grants} (high ${tally.high}, degraded ${tally.degraded})  denials ${tally.denials}  ` +
    `finished ${tally.finished}  lost ${tally.lost}`;
  return [
    "",
    row("cluster", "processes", "live", "busy"),
    ...clusters,
    row("all", crew.running().length, status?.live, status?.busy),
    "",
    `${sum}  ${did}${status ? "" : "  (the store is out of reach)"}`,
  ];
}
