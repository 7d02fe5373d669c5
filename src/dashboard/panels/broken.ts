import type { FleetsAnswer } from "../../fleets/schema.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { keyedList } from "../keyed.ts";

type Broken = NonNullable<FleetsAnswer["broken"]>[number];

/** Says which of a list cannot be read, and what to do; out of sight while all can. */
export function makeBroken(kind: "Fleets" | "Queues" | "Limits") {
  const element = html("ul", { class: "broken", "aria-label": `${kind} that cannot be read`, hidden: true });
  const show = keyedList<Broken>(
    element,
    ({ name }) => name,
    ({ name }) => {
      const detail = html("span");
      const update = (broken: Broken) => setText(detail, broken.detail);
      return { element: html("li", {}, html("b", { text: name }), " cannot be read: ", detail), update };
    },
  );
  return {
    element,
    update(broken: readonly Broken[] = []) {
      show(broken);
      setAttributes(element, { hidden: broken.length === 0 });
    },
  };
}
