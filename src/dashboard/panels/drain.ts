import type { DrainAnswer, StatusAnswer } from "../../fleets/schema.ts";
import { announce } from "../announce.ts";
import { type Api, CallFailed, path } from "../api.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { duration } from "../format.ts";
import { keyedList } from "../keyed.ts";
import { wordsOf } from "../words.ts";
import { confirmThat } from "./confirm.ts";
import { makeMessage } from "./panel.ts";

export type Target = DrainAnswer["draining"][number];

const HEARD_MS = 5_000;
/** Others' changes are seen after this; one's own at once. */
const FRESH_MS = 10_000;
const nameOf = ({ cluster, pod }: Target): string =>
  pod
    ? `pod ${pod}${cluster ? ` of ${cluster}` : " everywhere"}`
    : cluster
      ? `cluster ${cluster}`
      : "the whole fleet";

/** Who is told to drain, and the means to tell others or to take it back. */
export function makeDrain(api: Api, onChange: () => void) {
  let fleet = "";
  let heartbeatMs = 0;
  let asked = Number.NEGATIVE_INFINITY;
  const message = makeMessage();
  const choice = html("select", { id: "drain-cluster" });
  const button = html("button", { type: "button", text: "Drain cluster" });
  const list = html("ul", { class: "drains", "aria-label": "Told to drain" });
  const tell = html(
    "div",
    { class: "tell" },
    html("label", { for: "drain-cluster", text: "Cluster" }),
    choice,
    button,
  );
  const element = html("div", { class: "drain" }, tell, list, message.element);
  const showChoices = keyedList<string>(choice, String, (name) => ({
    element: html("option", { value: name, text: name }),
    update() {},
  }));
  const show = keyedList<Target>(list, nameOf, (target) => {
    const undo = html("button", {
      type: "button",
      text: "Take back",
      "aria-label": `Take back: ${nameOf(target)}`,
    });
    undo.addEventListener("click", () => set(target, false));
    return { element: html("li", {}, `${nameOf(target)} is told to drain`, undo), update() {} };
  });

  async function set(target: Target, drain: boolean, of = fleet) {
    try {
      const { draining } = await api.send<DrainAnswer>("POST", path`/v1/fleets/${of}/drain`, {
        ...target,
        drain,
      });
      if (of === fleet) show(draining);
      message.say("");
      announce(drain ? `${nameOf(target)} is told to drain` : `${nameOf(target)} may go on`);
      onChange();
    } catch (error) {
      message.say(wordsOf(error), true);
    }
  }

  /** Tells after asking; pods finish what they hold. */
  async function drain(target: Target) {
    const of = fleet;
    const consequence =
      `In the fleet ${of}. It hears so within ${duration(heartbeatMs + HEARD_MS)}, takes nothing new, finishes what it holds and leaves. ` +
      "This ends after 24 hours, or when you take it back.";
    if (await confirmThat(`Drain ${nameOf(target)}?`, consequence, "Drain")) await set(target, true, of);
  }

  button.addEventListener("click", () => drain({ cluster: choice.value }));
  return {
    element,
    drain,
    async refresh(wanted: string, status: StatusAnswer | undefined, signal: AbortSignal) {
      fleet = wanted;
      heartbeatMs = status?.policy.heartbeat_ms ?? 10_000;
      const clusters = Object.keys(status?.clusters ?? {}).sort();
      showChoices(clusters);
      setAttributes(tell, { hidden: clusters.length === 0 });
      setText(button, "Drain cluster");
      if (performance.now() - asked < FRESH_MS) return;
      try {
        const { draining } = await api.get<DrainAnswer>(path`/v1/fleets/${fleet}/drain`, signal);
        asked = performance.now();
        show(draining);
      } catch (error) {
        if (!(error instanceof CallFailed) || error.isOutage) throw error;
      }
    },
    reset() {
      asked = Number.NEGATIVE_INFINITY;
      show([]);
      message.say("");
    },
  };
}
