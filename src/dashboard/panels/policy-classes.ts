import { capacityOf } from "../../leases/capacity.ts";
import type { Policy } from "../../leases/policy.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { keyedList } from "../keyed.ts";
import { fillHead, makeCells } from "./table.ts";

type Classes = Policy["classes"];
interface Shown {
  name: string;
  ratio: number;
}

const COLUMNS = {
  name: { title: "Class" },
  ratio: { title: "Share of live pods" },
  now: { title: "May hold now", kind: "number" },
  later: { title: "After saving", kind: "number" },
  drop: { title: "Remove", kind: "action" },
} as const;

/** The classes of a policy as inputs, each with what it may hold before and after. `onEdit` hears of every change. */
export function makeClassTable(onEdit: () => void) {
  const body = html("tbody");
  const inputs = new Map<string, HTMLInputElement>();
  const rows = new Map<string, (live: number, saved: number | undefined) => void>();
  const heads = Object.values(COLUMNS).map(({ title, ...more }) =>
    "kind" in more && more.kind === "action"
      ? html("td")
      : html("th", { scope: "col", class: "kind" in more ? more.kind : undefined, text: title }),
  );
  const caption = html("caption", { class: "unseen", text: "Classes" });
  const element = html(
    "table",
    { class: "classes" },
    caption,
    html("thead", {}, html("tr", {}, ...heads)),
    body,
  );

  const show = keyedList<Shown>(
    body,
    ({ name }) => name,
    ({ name }) => {
      const { row, cells } = makeCells(COLUMNS);
      fillHead(cells.name, name, "");
      const input = html("input", {
        type: "number",
        min: 0.0001,
        max: 1,
        step: 0.0001,
        required: true,
        inputmode: "decimal",
        "aria-label": `Share of class ${name}, 0.0001 to 1`,
      });
      inputs.set(name, input);
      input.addEventListener("input", onEdit);
      cells.ratio.append(input);
      const drop = html("button", { type: "button", text: "Remove", "aria-label": `Remove class ${name}` });
      drop.addEventListener("click", () => {
        show(current().filter((one) => one.name !== name));
        onEdit();
      });
      if (name !== "normal") cells.drop.append(drop);
      rows.set(name, (live, saved) => {
        const then = capacityOf(live, input.valueAsNumber);
        setText(cells.now, saved === undefined ? "–" : capacityOf(live, saved));
        setText(cells.later, Number.isNaN(then) ? "–" : then);
        setAttributes(cells.later, { class: input.valueAsNumber === saved ? "number" : "number changed" });
      });
      return {
        element: row,
        update({ ratio }) {
          if (input.valueAsNumber !== ratio && !Number.isNaN(ratio)) input.valueAsNumber = ratio;
        },
      };
    },
  );

  const isShown = (input: HTMLInputElement) => body.contains(input);
  const current = (): Shown[] =>
    [...inputs].flatMap(([name, input]) => (isShown(input) ? { name, ratio: input.valueAsNumber } : []));

  return {
    element,
    show: (classes: Classes) => show(Object.entries(classes).map(([name, { ratio }]) => ({ name, ratio }))),
    add: (name: string) => show([...current(), { name, ratio: 1 }]),
    read: (): Classes => Object.fromEntries(current().map(({ name, ratio }) => [name, { ratio }])),
    preview(live: number, saved: Classes) {
      for (const { name } of current()) rows.get(name)?.(live, saved[name]?.ratio);
    },
  };
}
