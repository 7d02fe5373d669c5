import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compactLua } from "../../src/redis/lua.ts";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
/** What `main` in wrangler.toml lies in. */
const COPY = fileURLToPath(new URL("../../dist/worker", import.meta.url));
const ELSEWHERE = /^(client|dashboard)\//;

/**
 * Copies the Worker's source for the upload, its Lua compacted: wrangler bundles texts as they lie. Files that are as
 * they should be are not touched, and others change at once, so that several may bundle at the same time.
 */
export function copyWorkerSource(): void {
  const files = globSync("**/*.{ts,lua}", { cwd: SOURCE }).filter((file) => !ELSEWHERE.test(file));
  for (const file of files) {
    const text = readFileSync(join(SOURCE, file), "utf8");
    put(join(COPY, file), file.endsWith(".lua") ? compactLua(text) : text);
  }
  const wanted = new Set(files);
  for (const file of globSync("**/*.{ts,lua}", { cwd: COPY })) {
    if (!wanted.has(file)) rmSync(join(COPY, file), { force: true });
  }
}

function put(file: string, text: string): void {
  if (textOf(file) === text) return;
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
