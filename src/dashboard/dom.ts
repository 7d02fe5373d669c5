type Value = string | number | boolean | undefined;
type Attributes = Record<string, Value>;
type Child = Node | string;

/** Makes an HTML element; `text` becomes its textContent, true an empty attribute, false and undefined none. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an SVG element, with attributes as `html` takes them. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill<E extends Element>(element: E, { text, ...attributes }: Attributes, children: Child[]): E {
  if (text !== undefined) element.textContent = String(text);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** Writes only those attributes that differ, so that nothing repaints or is read aloud again without a reason. */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    const wanted = value === undefined || value === false ? null : value === true ? "" : String(value);
    if (element.getAttribute(name) === wanted) continue;
    if (wanted === null) element.removeAttribute(name);
    else element.setAttribute(name, wanted);
  }
}

/** Writes a text where it differs. */
export function setText(node: Node, text: string | number): void {
  if (node.textContent !== String(text)) node.textContent = String(text);
}
