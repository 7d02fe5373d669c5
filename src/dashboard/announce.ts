import { html, setText } from "./dom.ts";

const region = html("p", { class: "unseen", role: "status" });
document.body.append(region);

/** Says something once through a screen reader, without taking the focus. For changes of state, not for figures. */
export function announce(text: string): void {
  setText(region, text);
}
