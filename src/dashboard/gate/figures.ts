import { html, setAttributes, setText } from "../dom.ts";
import { count } from "../format.ts";
import { type Picture, reserveOf, reserveUsed } from "./picture.ts";

const NAMES = ["live", "busy", "capacity", "reserve"] as const;
type Name = (typeof NAMES)[number];

/** The four numbers of a fleet, each with the one thing to know about it. */
export function makeFigures() {
  const element = html("dl", { class: "figures" });
  const parts = Object.fromEntries(
    NAMES.map((name) => {
      const value = html("dd", { class: "value", "data-figure": name });
      const note = html("dd", { class: "note" });
      element.append(html("div", {}, html("dt", { text: name }), value, note));
      return [name, { value, note }];
    }),
  ) as Record<Name, { value: HTMLElement; note: HTMLElement }>;

  function show(name: Name, value: number, note: string, isBad = false) {
    setText(parts[name].value, count(value));
    setText(parts[name].note, note);
    setAttributes(parts[name].note, { class: isBad ? "note bad" : "note" });
  }

  return {
    element,
    update(picture: Picture) {
      const { live, busy, capacity, available, urgent, overBy, starting, draining, paused } = picture;
      const absent = [starting && `${starting} starting`, draining && `${draining} draining`].filter(Boolean);
      const longest = Math.max(live, busy).toString().length;
      setAttributes(element, { class: longest > 3 ? "figures long" : "figures" });
      show("live", live, absent.join(", "));
      if (overBy > 0) show("busy", busy, `over by ${overBy}`, true);
      else show("busy", busy, urgent > 0 ? `${urgent} urgent` : "");
      show("capacity", capacity, paused ? "paused" : available > 0 ? `${available} free` : "full");
      show("reserve", reserveOf(picture), reserveUsed(picture) > 0 ? `${reserveUsed(picture)} taken` : "");
    },
  };
}
