import { html } from "../dom.ts";

/** What stands there before any pod was heard of: how to make one be heard. */
export function makeEmpty(): HTMLElement {
  const command = `curl ${location.origin}/v1/fleets/demo/heartbeat \\
  -H "authorization: Bearer $KEY" -H "content-type: application/json" \\
  -d '{"cluster": "here", "pod": "worker-0"}'`;
  return html(
    "div",
    { class: "empty", hidden: true },
    html("h2", { text: "No fleet has been heard of in the last 24 hours" }),
    html("p", { text: "A fleet is there as soon as a pod names it. One heartbeat will do:" }),
    html("pre", { tabindex: 0, "aria-label": "A first heartbeat with curl", text: command }),
  );
}
