import type { FieldError } from "../problems.ts";
import { endOfString } from "../raw-json.ts";

/** Fields that carry JSON of the caller's own, kept as it was sent. */
const VERBATIM = new Set<string | number>(["payload", "result"]);

/** No schema of ours is deeper, so nothing below can be taken. */
const MAX_DEPTH = 12;

interface Frame {
  /** The names so far; absent in a list. */
  names: Set<string> | undefined;
  /** The name or the index of the value that comes next. */
  at: string | number;
}

/**
 * The first name in a JSON text that would be passed over unseen: of one that stands twice in an object only the last
 * counts for JSON.parse, and `__proto__` is never looked at. The text must be valid JSON.
 */
export function oddName(text: string): FieldError | undefined {
  const frames: Frame[] = [];
  let skipped = 0;
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    const frame = frames.at(-1);
    if (sign === "{" || sign === "[") {
      if (skipped > 0 || frames.length === MAX_DEPTH || isVerbatim(frames)) skipped += 1;
      else frames.push({ names: sign === "{" ? new Set() : undefined, at: 0 });
      isName = sign === "{";
    } else if (sign === "}" || sign === "]") {
      if (skipped > 0) skipped -= 1;
      else frames.pop();
    } else if (sign === "," && skipped === 0 && frame) {
      if (!frame.names) frame.at = Number(frame.at) + 1;
      isName = frame.names !== undefined;
    } else if (sign === '"') {
      const end = endOfString(text, at);
      if (isName && skipped === 0 && frame?.names) {
        frame.at = JSON.parse(text.slice(at, end)) as string;
        const message = oddity(frame.at, frame.names);
        if (message) return { path: frames.map((one) => one.at).join("."), message };
      }
      isName = false;
      at = end - 1;
    }
  }
  return undefined;
}

/** Two deep are names of the caller's own, such as classes, and one may be called so. */
const isVerbatim = (frames: readonly Frame[]) => frames.length !== 2 && VERBATIM.has(frames.at(-1)?.at ?? "");

function oddity(name: string, names: Set<string>): string | undefined {
  if (name === "__proto__") return "is not a known field";
  if (names.has(name)) return "is given twice";
  names.add(name);
  return undefined;
}
