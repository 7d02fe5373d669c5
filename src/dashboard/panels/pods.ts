import type { PodsAnswer } from "../../fleets/schema.ts";
import { type Api, path } from "../api.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { secondsLeft } from "../format.ts";
import { makeDrain, type Target } from "./drain.ts";
import { makeLeases } from "./leases.ts";
import { makePager } from "./pager.ts";
import type { Panel } from "./panel.ts";
import { fillHead, makeCells, makeTable } from "./table.ts";

type Pod = PodsAnswer["pods"][number];

const PAGE = 50;
const COLUMNS = {
  pod: { title: "Pod" },
  instance: { title: "Instance", kind: "wide" },
  state: { title: "State" },
  slots: { title: "Slots", kind: "number wide" },
  left: { title: "Time left", kind: "number" },
  leases: { title: "Leases", kind: "rest" },
  drain: { title: "Drain", kind: "action" },
} as const;

/** The pods of a fleet, page by page, with what they hold and the means to drain them. */
export function makePods(api: Api, again: () => void): Panel {
  const drain = makeDrain(api, again);
  const pager = makePager("pods", again);
  const none = html("p", { class: "none", hidden: true, text: "No pod lives or holds a lease." });
  const table = makeTable<Pod>("Pods", COLUMNS, keyOf, (pod) => makePod(pod, drain.drain));
  return {
    element: html("div", {}, drain.element, table.element, none, pager.element),
    async refresh(fleet, status, signal) {
      const pods = api.get<PodsAnswer>(
        `${path`/v1/fleets/${fleet}/pods`}?limit=${PAGE}${pager.query}`,
        signal,
      );
      const [answer] = await Promise.all([pods, drain.refresh(fleet, status, signal)]);
      if (!pager.update(answer.next, answer.pods.length === 0)) return;
      table.update(answer.pods);
      setAttributes(none, { hidden: answer.pods.length > 0 });
      setAttributes(table.element, { hidden: answer.pods.length === 0 });
    },
    reset() {
      pager.reset();
      table.update([]);
      setAttributes(none, { hidden: true });
      drain.reset();
    },
  };
}

const keyOf = ({ cluster, pod }: Pod) => `${cluster}/${pod}`;

function makePod({ cluster, pod }: Pod, drain: (target: Target) => void) {
  const { row, cells } = makeCells(COLUMNS);
  fillHead(cells.pod, pod, cluster);
  const button = html("button", {
    type: "button",
    text: "Drain",
    "aria-label": `Drain ${pod} of ${cluster}`,
  });
  button.addEventListener("click", () => drain({ cluster, pod }));
  cells.drain.append(button);
  const showLeases = makeLeases(cells.leases);
  return {
    element: row,
    update({ instance, state, slots, expires_in_ms: ms, leases }: Pod) {
      setText(cells.instance, instance ?? "–");
      setAttributes(cells.instance, { title: instance ?? undefined });
      setText(cells.state, state);
      setAttributes(cells.state, { class: `state ${state}` });
      setText(cells.slots, slots);
      setText(cells.left, state === "silent" ? "–" : secondsLeft(ms));
      showLeases(leases);
      setAttributes(button, { hidden: state === "draining" });
    },
  };
}
