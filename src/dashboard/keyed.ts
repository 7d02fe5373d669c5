/** One shown item: its element, and how to bring it up to date. */
export interface Row<Item> {
  element: Element;
  update(item: Item): void;
}

/**
 * Shows a list in `parent`, one element a key: what stays keeps its element, and with it focus, selection and scroll.
 * `make` builds a row; `update` is called on it at once and at every later list that has its key.
 */
export function keyedList<Item>(
  parent: Element,
  keyOf: (item: Item) => string,
  make: (item: Item) => Row<Item>,
): (items: readonly Item[]) => void {
  const rows = new Map<string, Row<Item>>();
  return (items) => {
    const keys = new Set(items.map(keyOf));
    // Before anything moves: a row is moved only when the order itself changed.
    for (const [key, row] of rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      rows.delete(key);
    }
    let place = parent.firstElementChild;
    for (const item of items) {
      const key = keyOf(item);
      const row = rows.get(key) ?? make(item);
      rows.set(key, row);
      row.update(item);
      if (row.element === place) place = place.nextElementSibling;
      else parent.insertBefore(row.element, place);
    }
  };
}
