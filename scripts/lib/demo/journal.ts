import { appendFileSync, closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { nowMs } from "./clock.ts";

/** One thing that happened: `at` on the machine's monotonic clock, `wall` on its calendar, both in milliseconds. */
export type Stamped<Line> = Line & { at: number; wall: number };

/** Appends a line to a file; once it returns the line outlives the process, even if that is killed. */
export type Write<Line> = (line: Line) => number;

/** Opens a file to write down what happens in this process; gives the time of each line. */
export function openJournal<Line extends object>(file: string): Write<Line> {
  return (line) => {
    const at = nowMs();
    appendFileSync(file, `${JSON.stringify({ ...line, at, wall: Date.now() })}\n`);
    return at;
  };
}

/** Every whole line of a journal; none when its process never wrote. A line cut off by a kill is left out. */
export function readJournal<Line>(file: string): Stamped<Line>[] {
  if (!existsSync(file)) return [];
  return parse(readFileSync(file, "utf8")).lines as Stamped<Line>[];
}

/** Makes a reader that gives, at each call, the lines that a growing journal got since the last one. */
export function followJournal<Line>(file: string): () => Stamped<Line>[] {
  let offset = 0;
  return () => {
    if (!existsSync(file)) return [];
    const handle = openSync(file, "r");
    try {
      const buffer = Buffer.alloc(1 << 18);
      const length = readSync(handle, buffer, 0, buffer.length, offset);
      const { lines, used } = parse(buffer.toString("utf8", 0, length));
      offset += used;
      return lines as Stamped<Line>[];
    } finally {
      closeSync(handle);
    }
  };
}

function parse(text: string): { lines: unknown[]; used: number } {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const lines = whole.split("\n").filter((line) => line !== "");
  return { lines: lines.map((line) => JSON.parse(line)), used: Buffer.byteLength(whole) };
}
