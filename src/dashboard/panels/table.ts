import { html } from "../dom.ts";
import { keyedList, type Row } from "../keyed.ts";

/** The columns of a table by name, in order; a phone has no room for the `wide` ones, and `rest` takes what is left. The first one heads the row. */
export type Columns = Record<
  string,
  { title: string; kind?: "number" | "text" | "wide" | "number wide" | "rest" | "action" }
>;

/** A table that keeps its rows' elements; `caption` names it for those who hear it. */
export function makeTable<Item>(
  caption: string,
  columns: Columns,
  keyOf: (item: Item) => string,
  makeRow: (item: Item) => Row<Item>,
) {
  const body = html("tbody");
  const heads = Object.values(columns).map(({ title, kind }) =>
    kind === "action"
      ? html("th", { scope: "col", class: kind }, html("span", { class: "unseen", text: title }))
      : html("th", { scope: "col", class: kind, text: title }),
  );
  const head = html("thead", {}, html("tr", {}, ...heads));
  const table = html("table", {}, html("caption", { class: "unseen", text: caption }), head, body);
  return {
    // A table too wide for a phone is scrolled by keyboard too.
    element: html("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 }, table),
    update: keyedList(body, keyOf, makeRow),
  };
}

/** A row with a cell for each column. */
export function makeCells<C extends Columns>(columns: C) {
  const entries = Object.entries(columns).map(([name, { kind }], at) => {
    const cell: HTMLTableCellElement = at === 0 ? html("th", { scope: "row" }) : html("td", { class: kind });
    return [name, cell] as const;
  });
  const row = html("tr", {}, ...entries.map(([, cell]) => cell));
  return { row, cells: Object.fromEntries(entries) as Record<keyof C, HTMLTableCellElement> };
}

/** What heads a row: a name, and under it what it belongs to. */
export function fillHead(cell: HTMLElement, name: string, belongsTo: Node | string): void {
  const below = html("span", { class: "below" }, belongsTo);
  cell.append(html("span", { class: "name", text: name }), below);
}
