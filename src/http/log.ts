/** One line of the log: what happened, never what was sent. */
export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  [field: string]: string | number | undefined;
}

export type Log = (line: LogLine) => void;

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Writes lines at or above `level` as JSON, one a line. */
export function makeLog(level: LogLine["level"], write: (text: string) => void = console.log): Log {
  const least = LEVELS.indexOf(level);
  return (line) => {
    if (LEVELS.indexOf(line.level) >= least) write(JSON.stringify(line));
  };
}
