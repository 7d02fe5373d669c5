import { html } from "../dom.ts";
import { wordsOf } from "../words.ts";
import { makeMessage } from "./panel.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** A form for the name of something to watch; `watch` may reject. */
export function makeNameForm(
  what: string,
  watch: (name: string) => Promise<void>,
  ...more: HTMLElement[]
): HTMLFormElement {
  const id = `watch-${what.toLowerCase()}`;
  const input = html("input", {
    id,
    required: true,
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 128,
  });
  const message = makeMessage();
  const button = html("button", { text: "Watch" });
  const form = html(
    "form",
    { class: "watch" },
    html("span", { class: "pair" }, html("label", { for: id, text: what }), input),
    ...more,
    button,
    message.element,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (!NAME.test(name)) {
      message.say(
        "A name has letters, digits, dots, dashes and underscores, and starts with a letter or digit.",
        true,
      );
      return;
    }
    try {
      await watch(name);
      message.say("");
      input.value = "";
    } catch (error) {
      message.say(wordsOf(error), true);
    }
  });
  return form;
}
