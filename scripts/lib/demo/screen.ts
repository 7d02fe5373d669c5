import { nowMs } from "./clock.ts";

/** Where the demo is watched: events scroll by, and the table below them is drawn anew in its place. */
export interface Screen {
  event(text: string): void;
  /** Draws the table; where lines cannot be redrawn only now and then, and its last line alone. */
  table(lines: string[]): void;
  /** Takes the table away before something else is written. */
  close(): void;
}

const PLAIN_EVERY_MS = 5_000;

/** Makes a screen over a terminal, or over a file or pipe that gets plain lines. */
export function makeScreen(out: NodeJS.WriteStream, startedAt: number): Screen {
  let drawn: string[] = [];
  let plainAt = 0;
  const seconds = () => `[${((nowMs() - startedAt) / 1_000).toFixed(1).padStart(5)} s]`;
  const wipe = () => {
    if (drawn.length > 0) out.write(`\x1b[${drawn.length}A\x1b[J`);
  };
  const draw = () => {
    const width = (out.columns ?? 100) - 1;
    for (const line of drawn) out.write(`${line.slice(0, width)}\n`);
  };

  if (!out.isTTY) {
    return {
      event: (text) => out.write(`${seconds()} ${text}\n`),
      table(lines) {
        if (nowMs() < plainAt) return;
        plainAt = nowMs() + PLAIN_EVERY_MS;
        out.write(`${seconds()} ${lines.at(-1)}\n`);
      },
      close: () => {},
    };
  }
  return {
    event(text) {
      wipe();
      out.write(`${seconds()} ${text}\n`);
      draw();
    },
    table(lines) {
      wipe();
      drawn = lines;
      draw();
    },
    close() {
      wipe();
      drawn = [];
    },
  };
}
