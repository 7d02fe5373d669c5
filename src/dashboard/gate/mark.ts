import { setAttributes, setText, svg } from "../dom.ts";

/** An upright line through the bar with a label above it, at `top` px and `overhang` px longer than the cells. */
export function makeMark(kind: "line" | "ghost" | "end", top: number, overhang: number) {
  const stroke = svg("path", { class: `mark ${kind}` });
  const label = svg("text", { class: `mark-label ${kind}`, y: top - overhang - 3, "text-anchor": "middle" });
  const element = svg("g", {}, stroke, label);
  return {
    element,
    /** Moves it to `x`, or hides it; `aside` puts the label right of the line's left side. */
    update(x: number | undefined, height: number, text: string, aside = false) {
      setAttributes(element, { visibility: x === undefined ? "hidden" : undefined });
      if (x === undefined) return;
      setAttributes(element, { transform: `translate(${x} 0)` });
      setAttributes(stroke, { d: `M0 ${top - overhang}V${top + height + overhang}` });
      setAttributes(label, { "text-anchor": aside ? "end" : "middle", x: aside ? 4 : 0 });
      setText(label, text);
    },
  };
}
