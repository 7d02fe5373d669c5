import { html, setAttributes, setText } from "../dom.ts";

/** Steps through pages that only know the next one; remembers the way back. `onTurn` asks for the page again. */
export function makePager(what: string, onTurn: () => void) {
  let cursors: string[] = [];
  let next: string | null = null;
  const back = html("button", { type: "button", text: "Previous" });
  const forth = html("button", { type: "button", text: "Next" });
  const place = html("span");
  back.addEventListener("click", () => {
    cursors.pop();
    onTurn();
  });
  forth.addEventListener("click", () => {
    if (next === null) return;
    cursors.push(next);
    onTurn();
  });
  const element = html(
    "nav",
    { class: "pager", "aria-label": `Pages of ${what}`, hidden: true },
    back,
    place,
    forth,
  );
  return {
    element,
    /** Where the page begins, as a query string's end. */
    get query(): string {
      const cursor = cursors.at(-1);
      return cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    },
    /** After each page; false where it emptied meanwhile: then the one before is asked for. */
    update(following: string | null, isEmpty: boolean): boolean {
      if (isEmpty && cursors.length > 0) {
        cursors.pop();
        onTurn();
        return false;
      }
      next = following;
      setText(place, `page ${cursors.length + 1}`);
      setAttributes(back, { disabled: cursors.length === 0 });
      setAttributes(forth, { disabled: next === null });
      setAttributes(element, { hidden: cursors.length === 0 && next === null });
      return true;
    },
    reset() {
      cursors = [];
      next = null;
      setAttributes(element, { hidden: true });
    },
  };
}
