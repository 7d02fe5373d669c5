import type { Policy } from "../../leases/policy.ts";
import { html } from "../dom.ts";
import { makeClassTable } from "./policy-classes.ts";

const TIMES = {
  ttl_ms: "A pod is live for this long after a heartbeat",
  heartbeat_ms: "Pods beat this often",
  lease_ttl_ms: "A lease lasts this long unless renewed",
} as const;
type Time = keyof typeof TIMES;

/** The inputs of a policy; `onEdit` hears of every change. What the form does not know stays as it was. */
export function makePolicyForm(onEdit: () => void) {
  const classes = makeClassTable(onEdit);
  const times = Object.entries(TIMES).map(([name, label]) => {
    const id = `policy-${name}`;
    const input = html("input", { id, type: "number", min: 1, max: 86_400, step: 0.001, required: true });
    return {
      name: name as Time,
      input,
      row: html("p", {}, html("label", { for: id, text: label }), input, " s"),
    };
  });
  const paused = html("input", { id: "policy-paused", type: "checkbox" });
  const pause = html(
    "p",
    {},
    paused,
    html("label", { for: "policy-paused", text: "Paused: grant nothing, let leases run on" }),
  );
  const added = html("input", {
    "aria-label": "Name of a class to add",
    placeholder: "new class",
    pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,127}",
    autocomplete: "off",
  });
  const add = html("button", { type: "button", text: "Add class" });
  add.addEventListener("click", () => {
    if (!added.value || !added.reportValidity()) return added.focus();
    classes.add(added.value);
    added.value = "";
    onEdit();
  });
  const fields = html(
    "fieldset",
    {},
    html("legend", { text: "Times" }),
    ...times.map(({ row }) => row),
    pause,
  );
  fields.addEventListener("input", onEdit);
  const shares = html(
    "fieldset",
    {},
    html("legend", { text: "Shares" }),
    html("div", { class: "scroll" }, classes.element),
    html("p", { class: "add" }, added, add),
  );
  return {
    elements: [shares, fields],
    preview: classes.preview,
    show(policy: Policy) {
      for (const { name, input } of times) input.valueAsNumber = policy[name] / 1_000;
      paused.checked = policy.paused;
      classes.show(policy.classes);
    },
    read(base: Policy): Policy {
      const set = times.map(({ name, input }) => [name, Math.round(input.valueAsNumber * 1_000)]);
      return { ...base, ...Object.fromEntries(set), classes: classes.read(), paused: paused.checked };
    },
  };
}
