import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleWorker } from "../../scripts/lib/bundle.ts";

/** KiB, gzipped: what `wrangler deploy --dry-run` prints. */
const LIMIT = 100;

test("the upload is at most 100 KiB gzipped, and its Lua has neither comment lines nor indentation", async () => {
  const { modules } = await bundleWorker();
  // As wrangler measures it: all modules one after the other, without the source map, in one gzip.
  const uploaded = modules.filter(({ type }) => type !== "sourcemap");
  const size = gzipSync(uploaded.map(({ contents }) => contents).join("")).length / 1024;
  expect(size).toBeGreaterThan(LIMIT / 2);
  expect(size).toBeLessThanOrEqual(LIMIT);
  const lua = uploaded.filter(({ type }) => type === "text");
  expect(lua.length).toBeGreaterThan(20);
  for (const { name, contents } of lua) expect(contents, name).not.toMatch(/^(\s|--)/m);
});
