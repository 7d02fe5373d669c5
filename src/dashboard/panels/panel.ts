import type { StatusAnswer } from "../../fleets/schema.ts";
import { html, setAttributes, setText } from "../dom.ts";

/** What a tab shows of a fleet; only the tab in sight is asked to refresh. */
export interface Panel {
  element: HTMLElement;
  refresh(fleet: string, status: StatusAnswer | undefined, signal: AbortSignal): Promise<void>;
  /** Another fleet is looked at: forget pages, forms and messages. */
  reset(): void;
}

/** A line under a control that says how it went; errors are read aloud at once. */
export function makeMessage() {
  const element = html("p", { class: "message", role: "alert" });
  return {
    element,
    say(text: string, isBad = false) {
      setAttributes(element, { class: isBad ? "message bad" : "message", role: isBad ? "alert" : "status" });
      setText(element, text);
    },
  };
}
