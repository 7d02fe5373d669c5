import { announce } from "./announce.ts";
import { CallFailed } from "./api.ts";
import { html, setAttributes, setText } from "./dom.ts";
import { duration } from "./format.ts";
import { wordsOf } from "./words.ts";

/** The top of the page: whether what is shown is current, and if not, how old it is and what to do. */
export function makeHeader(forget: () => void) {
  const state = html("span", { class: "state-text", text: "connecting" });
  const pill = html(
    "p",
    { class: "connection", "data-state": "waiting" },
    html("i", { "aria-hidden": "true" }),
    state,
  );
  const button = html("button", { type: "button", text: "Forget key" });
  button.addEventListener("click", forget);
  const words = html("span");
  const age = html("span", { class: "age" });
  const banner = html("section", { class: "banner", "aria-label": "Trouble", hidden: true }, words, " ", age);
  const bar = html("header", {}, html("h1", { text: "Fleetgate" }), pill, button);
  let current = 0;
  let isLost = false;

  function showAge() {
    if (!isLost) return;
    setText(
      age,
      current ? `What is shown is ${duration(Date.now() - current)} old.` : "Nothing could be read yet.",
    );
  }
  // Only this line moves each second, and it is not read aloud.
  const timer = setInterval(showAge, 1_000);

  return {
    elements: [bar, banner],
    /** After each round: nothing when it went well, otherwise what went wrong. */
    told(error?: unknown) {
      const said = error === undefined ? "" : wordsOf(error);
      const isOutage = error instanceof CallFailed && error.isOutage;
      if (error === undefined) current = Date.now();
      if (isLost && error === undefined) announce("Connected again; figures are current.");
      if (!isLost && error !== undefined) announce(said);
      isLost = error !== undefined;
      setText(words, said);
      setAttributes(banner, { hidden: !isLost });
      setAttributes(pill, { "data-state": isLost ? "lost" : "live" });
      setText(state, isLost ? (isOutage ? "not current" : "refused") : "up to date");
      document.documentElement.toggleAttribute("data-stale", isLost);
      showAge();
    },
    close: () => clearInterval(timer),
  };
}
