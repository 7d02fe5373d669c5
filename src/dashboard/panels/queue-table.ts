import type { QueueAnswer } from "../../queues/schema.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { count, duration } from "../format.ts";
import { fillHead, makeCells, makeTable } from "./table.ts";

const COLUMNS = {
  queue: { title: "Queue" },
  ready: { title: "Ready", kind: "number" },
  delayed: { title: "Delayed", kind: "number" },
  inFlight: { title: "In flight", kind: "number" },
  oldest: { title: "Oldest ready", kind: "number" },
  dead: { title: "Dead", kind: "number" },
} as const;

/** The queues with their counts; a queue's dead letters are opened by their number. */
export function makeQueueTable(openDead: (queue: string) => void) {
  return makeTable<QueueAnswer>(
    "Queues",
    COLUMNS,
    ({ queue }) => queue,
    ({ queue }) => {
      const { row, cells } = makeCells(COLUMNS);
      const paused = html("span");
      fillHead(cells.queue, queue, paused);
      const open = html("button", { type: "button" });
      open.addEventListener("click", () => openDead(queue));
      cells.dead.append(open);
      return {
        element: row,
        update({ config, ready, delayed, in_flight, oldest_ready_ms, dead }) {
          setText(paused, config.paused ? "paused" : "");
          setText(cells.ready, count(ready));
          setText(cells.delayed, count(delayed));
          setText(cells.inFlight, count(in_flight));
          setText(cells.oldest, ready > 0 ? duration(oldest_ready_ms) : "–");
          setText(open, count(dead));
          setAttributes(open, {
            "aria-label": `Dead letters of ${queue}: ${dead}`,
            class: dead > 0 ? "bad" : undefined,
          });
        },
      };
    },
  );
}
