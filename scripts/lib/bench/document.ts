import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(new URL("../../../docs/performance.md", import.meta.url));

/** Replaces what stands between a section's markers in docs/performance.md; throws when it has none. */
export function writeSection(name: string, text: string): void {
  const before = `<!-- bench:${name} -->`;
  const after = `<!-- /bench:${name} -->`;
  const page = readFileSync(FILE, "utf8");
  const from = page.indexOf(before);
  const to = page.indexOf(after);
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no section ${name}`);
  writeFileSync(FILE, `${page.slice(0, from + before.length)}\n\n${text}\n\n${page.slice(to)}`);
}
