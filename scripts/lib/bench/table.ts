/** A table of a report: a heading for each column, rows of ready texts. The first column is text, the others numbers. */
export interface Table {
  title: string;
  head: string[];
  rows: string[][];
  notes?: string[];
}

/** A number as a report shows it: three digits that matter, thousands parted by commas. */
export function show(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A whole number with its thousands parted by commas. */
export const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

/** A table as Markdown that also reads well as plain text. */
export function render({ title, head, rows, notes = [] }: Table): string {
  const widths = head.map((name, column) =>
    Math.max(3, ...[name, ...rows.map((row) => row[column] ?? "")].map((cell) => cell.length)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  const body = [line(head), line(rule), ...rows.map(line)].join("\n");
  return [`### ${title}`, body, ...notes].join("\n\n");
}

const pad = (cell: string, width: number, column: number) =>
  column === 0 ? cell.padEnd(width) : cell.padStart(width);
