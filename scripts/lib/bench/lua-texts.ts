/// <reference path="../../../src/lua.d.ts" />
// Loaded with --import before everything else, so that src/ can be used in Node as it is: its .lua files are texts.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith(".lua")) return nextLoad(url, context);
    const text = readFileSync(fileURLToPath(url), "utf8");
    return { format: "module", shortCircuit: true, source: `export default ${JSON.stringify(text)};` };
  },
});
