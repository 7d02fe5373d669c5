import type { PodsAnswer } from "../../fleets/schema.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { secondsLeft } from "../format.ts";
import { keyedList } from "../keyed.ts";

export type Lease = PodsAnswer["pods"][number]["leases"][number];

/** The leases of one pod: class, time left, and the task or the end of the id. */
export function makeLeases(parent: Element): (leases: readonly Lease[]) => void {
  return keyedList<Lease>(
    parent,
    ({ id }) => id,
    ({ id, class: className, task }) => {
      const left = html("span", { class: "left" });
      const what = html("span", { class: "what", text: task ? `task ${task}` : tail(id), title: id });
      const name = html("span", {
        class: `class-${className === "normal" ? "normal" : "other"}`,
        text: className,
      });
      return {
        element: html("div", { class: "lease" }, name, " ", left, " ", what),
        update({ expires_in_ms: ms }) {
          setText(left, secondsLeft(ms));
          setAttributes(left, { title: `lapses in ${secondsLeft(ms)} unless renewed` });
        },
      };
    },
  );
}

/** The part of a lease's id that tells it from its neighbours: the request's end. */
function tail(id: string): string {
  const request = id.split("/").at(-1) ?? "";
  return request.length > 12 ? `…${request.slice(-8)}` : request;
}
