import type { StatusAnswer } from "../../../src/client/index.ts";
import type { QueueAnswer } from "../../../src/queues/schema.ts";
import type { Crew } from "./crew.ts";
import { followJournal } from "./journal.ts";
import type { QueueEntry } from "./queue-lines.ts";
import { CLUSTERS } from "./scale.ts";

/** Makes a counter of the lines of each kind that a crew has written; each call reads only what is new. */
export function countLines(crew: Crew): () => Map<string, number> {
  const counts = new Map<string, number>();
  const readers = new Map<string, () => QueueEntry[]>();
  return () => {
    for (const { file } of crew.records()) {
      if (!readers.has(file)) readers.set(file, followJournal<QueueEntry>(file));
      for (const { event } of readers.get(file)?.() ?? []) counts.set(event, (counts.get(event) ?? 0) + 1);
    }
    return counts;
  };
}

/** The table of a queue demo: its clusters, the queue, and what producers and workers did. */
export function queueTable(
  crew: Crew,
  status: StatusAnswer | undefined,
  queue: QueueAnswer | undefined,
  counts: Map<string, number>,
): string[] {
  const row = (name: string, ...cells: (string | number | undefined)[]) =>
    name.padEnd(10) + cells.map((cell) => String(cell ?? "?").padStart(11)).join("");
  const clusters = Object.keys(CLUSTERS).map((name) => {
    const { live, busy } = status?.clusters[name] ?? (status ? { live: 0, busy: 0 } : {});
    return row(name, crew.running(name).length, live, busy);
  });
  const count = (event: string) => counts.get(event) ?? 0;
  const { ready = "?", delayed = "?", in_flight: flying = "?", dead = "?" } = queue ?? {};
  return [
    "",
    row("cluster", "processes", "live", "busy"),
    ...clusters,
    "",
    `ready ${ready}  delayed ${delayed}  in flight ${flying}  dead ${dead}  N ${status?.live ?? "?"}  ` +
      `capacity ${status?.capacity ?? "?"}  enqueued ${count("accepted")}  delivered ${count("claimed")}  ` +
      `completed ${count("completed")}${status ? "" : "  (the store is out of reach)"}`,
  ];
}
