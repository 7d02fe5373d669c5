const SPACE = /[\s]*/y;
const SCALAR = /[^\s,\]}]+/y;

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}

const skipSpace = (text: string, at: number) => matchEnd(SPACE, text, at);

/** Where the JSON string that begins at `at` has ended. */
export function endOfString(text: string, at: number): number {
  let end = at + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

function endOfValue(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  if (text[at] !== "{" && text[at] !== "[") return matchEnd(SCALAR, text, at);
  let depth = 0;
  let end = at;
  do {
    const sign = text[end];
    if (sign === '"') end = endOfString(text, end);
    else end += 1;
    if (sign === "{" || sign === "[") depth += 1;
    if (sign === "}" || sign === "]") depth -= 1;
  } while (depth > 0);
  return end;
}

/**
 * The text of each member of a JSON object, by name, as it was sent: numbers keep their digits, strings their escapes.
 * The text must be valid JSON; of a name given twice the last counts, as in JSON.parse.
 */
export function memberTexts(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === '"') {
    const afterName = endOfString(text, at);
    const name = JSON.parse(text.slice(at, afterName)) as string;
    const value = skipSpace(text, skipSpace(text, afterName) + 1);
    const end = endOfValue(text, value);
    members.set(name, text.slice(value, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

/** The text of each element of a JSON array, as it was sent. The text must be valid JSON. */
export function elementTexts(text: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== "]" && at < text.length) {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return elements;
}
