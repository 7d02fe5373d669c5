import type { DeadAnswer, QueueAnswer, RedriveAnswer } from "../../queues/schema.ts";
import { announce } from "../announce.ts";
import { type Api, CallFailed, path } from "../api.ts";
import { now } from "../clock.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { duration, several } from "../format.ts";
import { wordsOf } from "../words.ts";
import { makePager } from "./pager.ts";
import { makeMessage } from "./panel.ts";
import { makeCells, makeTable } from "./table.ts";

type Letter = DeadAnswer["tasks"][number];

const PAGE = 20;
/** More of an error is folded away. */
const GLANCE = 80;
const COLUMNS = {
  task: { title: "Task" },
  reason: { title: "Reason", kind: "text" },
  error: { title: "Error", kind: "text" },
  deliveries: { title: "Deliveries", kind: "number" },
  died: { title: "Died", kind: "number" },
  redrive: { title: "Redrive", kind: "action" },
} as const;

/** The dead letters of one queue, and the means to give them another chance. */
export function makeDead(api: Api, again: () => void) {
  let queue: string | undefined;
  const heading = html("h3", { tabindex: -1 });
  const all = html("button", { type: "button", text: "Redrive all" });
  const close = html("button", { type: "button", text: "Close" });
  const message = makeMessage();
  const pager = makePager("dead letters", again);
  const table = makeTable<Letter>("Dead letters", COLUMNS, ({ id }) => id, makeLetter);
  const none = html("p", { class: "none", hidden: true, text: "No task is dead." });
  const head = html("div", { class: "dead-head" }, heading, all, close);
  const element = html(
    "section",
    { class: "dead", hidden: true },
    head,
    message.element,
    table.element,
    none,
    pager.element,
  );

  function makeLetter({ id }: Letter) {
    const { row, cells } = makeCells(COLUMNS);
    setText(cells.task, id);
    const button = html("button", { type: "button", text: "Redrive", "aria-label": `Redrive ${id}` });
    button.addEventListener("click", () => redrive([id]));
    cells.redrive.append(button);
    const [short, summary, whole] = [html("span"), html("summary"), html("p")];
    const folded = html("details", {}, summary, whole);
    cells.error.append(short, folded);
    return {
      element: row,
      update({ reason, error, deliveries, died_at }: Letter) {
        setText(cells.reason, reason);
        const text = error ?? "–";
        const isLong = text.length > GLANCE;
        setText(short, isLong ? "" : text);
        setAttributes(folded, { hidden: !isLong });
        setText(summary, isLong ? `${text.slice(0, GLANCE)}…` : "");
        setText(whole, isLong ? text : "");
        setText(cells.deliveries, deliveries);
        setText(cells.died, `${duration(Math.max(0, now() - died_at))} ago`);
      },
    };
  }

  async function redrive(ids?: string[]) {
    if (queue === undefined) return;
    const url = path`/v1/queues/${queue}`;
    try {
      const { dead } = ids ? { dead: ids.length } : await api.get<QueueAnswer>(url);
      let done = 0;
      // A call takes a thousand at most. What dies meanwhile is left, or a task that always fails had no end.
      for (let redriven = 1; redriven > 0 && done < dead; done += redriven) {
        ({ redriven } = await api.send<RedriveAnswer>("POST", `${url}/redrive`, ids ? { ids } : {}));
      }
      const said = `${several(done, "task")} made ready again.`;
      message.say(said);
      announce(said);
      again();
    } catch (error) {
      message.say(wordsOf(error), true);
    }
  }

  function shut() {
    queue = undefined;
    table.update([]);
    setAttributes(element, { hidden: true });
  }
  all.addEventListener("click", () => redrive());
  close.addEventListener("click", shut);

  return {
    element,
    close: shut,
    open(wanted: string) {
      queue = wanted;
      pager.reset();
      table.update([]);
      for (const one of [none, all]) setAttributes(one, { hidden: true });
      message.say("");
      setText(heading, `Dead letters of ${wanted}`);
      setAttributes(element, { hidden: false });
      heading.focus();
      again();
    },
    async refresh(signal: AbortSignal) {
      if (queue === undefined) return;
      try {
        const url = `${path`/v1/queues/${queue}/dead`}?limit=${PAGE}${pager.query}`;
        const { tasks, next } = await api.get<DeadAnswer>(url, signal);
        if (!pager.update(next, tasks.length === 0)) return;
        table.update(tasks);
        setAttributes(all, { hidden: tasks.length === 0 });
        setAttributes(table.element, { hidden: tasks.length === 0 });
        setAttributes(none, { hidden: tasks.length > 0 });
      } catch (error) {
        if (!(error instanceof CallFailed) || error.isOutage) throw error;
        message.say(wordsOf(error), true);
      }
    },
  };
}
