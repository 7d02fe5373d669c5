import type { StatusAnswer } from "../../fleets/schema.ts";
import { capacityOf } from "../../leases/capacity.ts";
import type { Policy } from "../../leases/policy.ts";
import { announce } from "../announce.ts";
import { type Api, path } from "../api.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { wordsOf } from "../words.ts";
import { makeMessage, type Panel } from "./panel.ts";
import { makePolicyForm } from "./policy-form.ts";

/** Other isolates may answer with the former policy for this long after a change. */
const SETTLES_MS = 6_000;

/** The rules of a fleet as a form; `onPreview` hears the capacity that saving would give, while it differs. */
export function makePolicy(
  api: Api,
  onPreview: (capacity: number | undefined) => void,
  again: () => void,
): Panel {
  let fleet = "";
  let live = 0;
  let saved: Policy | undefined;
  let settled = 0;
  /** The policy of another that was told of, so that saving may replace it. */
  let told = "";
  const fields = makePolicyForm(edited);
  const effect = html("p", { class: "effect", role: "status" });
  const save = html("button", { class: "primary", text: "Save" });
  const discard = html("button", { type: "button", text: "Discard" });
  const message = makeMessage();
  const buttons = html("div", { class: "buttons" }, save, discard, effect);
  const form = html("form", { class: "policy" }, ...fields.elements, buttons, message.element);

  const isEdited = () => saved !== undefined && canonical(fields.read(saved)) !== canonical(saved);

  function edited() {
    if (!saved) return;
    const wanted = fields.read(saved).classes.normal?.ratio ?? Number.NaN;
    const [now, then] = [capacityOf(live, saved.classes.normal?.ratio ?? 1), capacityOf(live, wanted)];
    const changes = isEdited();
    setAttributes(save, { disabled: !changes });
    setAttributes(discard, { disabled: !changes });
    fields.preview(live, saved.classes);
    const moves = changes && !Number.isNaN(then) && then !== now;
    setText(effect, moves ? `With ${live} live, normal work may hold ${then} instead of ${now}.` : "");
    onPreview(moves ? then : undefined);
  }

  function show(policy: Policy) {
    saved = policy;
    told = "";
    setAttributes(form, { hidden: false });
    fields.show(policy);
    edited();
  }

  function tell(policy: string) {
    told = policy;
    message.say("The policy was changed elsewhere meanwhile. Saving replaces that; Discard shows it.");
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!saved) return;
    const [wanted, url] = [fields.read(saved), path`/v1/fleets/${fleet}/policy`];
    const [base, of] = [canonical(saved), fleet];
    try {
      const there = canonical(await api.get<Policy>(url));
      if (of !== fleet) return;
      if (there !== base && there !== told) return tell(there);
      const answer = await api.send<Policy>("PUT", url, wanted);
      if (of !== fleet) return;
      settled = performance.now() + SETTLES_MS;
      show(answer);
      message.say("Saved. In force everywhere within 5 seconds.");
      announce("Policy saved");
      again();
    } catch (error) {
      message.say(wordsOf(error), true);
    }
  });
  form.addEventListener("input", () => message.say(""));
  discard.addEventListener("click", () => saved && show(saved));

  return {
    element: form,
    async refresh(wanted, status: StatusAnswer | undefined) {
      fleet = wanted;
      if (!status) return;
      live = status.live;
      const isNews = !saved || canonical(status.policy) !== canonical(saved);
      if (isNews && performance.now() > settled) {
        if (!isEdited()) show(status.policy);
        else tell(canonical(status.policy));
      }
      edited();
    },
    reset() {
      saved = undefined;
      settled = 0;
      // Until its policy is known, nothing is shown of a fleet rather than what was another's.
      setAttributes(form, { hidden: true });
      message.say("");
      onPreview(undefined);
    },
  };
}

/** The same text for the same policy, in whatever order its classes stand. */
function canonical({ classes, ...rest }: Policy): string {
  return JSON.stringify([Object.entries(rest).sort(), Object.entries(classes).sort()]);
}
