import { type Api, makeApi } from "./api.ts";
import { html } from "./dom.ts";
import { makeMessage } from "./panels/panel.ts";
import { wordsOf } from "./words.ts";

/** Asks for a key until one may read; `opened` gets it with its calls. `why` says what happened to the one before. */
export function makeKeyForm(opened: (key: string, api: Api) => void, why = ""): HTMLElement {
  const input = html("input", {
    id: "key",
    type: "password",
    required: true,
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 512,
    "aria-describedby": "key-hint",
  });
  const button = html("button", { class: "primary", text: "Open" });
  const message = makeMessage();
  const hint =
    "A key with scope read may look, one with scope admin may change things. It stays in this tab.";
  const form = html(
    "form",
    { class: "key" },
    html("h1", { text: "Fleetgate" }),
    html("label", { for: "key", text: "Key" }),
    html("div", { class: "field" }, input, button),
    html("p", { id: "key-hint", class: "hint", text: hint }),
    message.element,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const key = input.value.trim();
    if (!/^[\x21-\x7e]+$/.test(key))
      return message.say("A key has no spaces and only plain characters.", true);
    const api = makeApi(key);
    button.disabled = true;
    try {
      await api.get("/v1/fleets");
      opened(key, api);
    } catch (error) {
      message.say(wordsOf(error), true);
      input.select();
    } finally {
      button.disabled = false;
    }
  });
  if (why) message.say(why, true);
  queueMicrotask(() => input.focus());
  return html("main", { class: "door" }, form);
}
