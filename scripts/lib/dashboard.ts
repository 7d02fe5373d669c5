import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const SOURCE = fileURLToPath(new URL("../../src/dashboard", import.meta.url));

/**
 * Builds into `folder` the dashboard as one page that loads nothing, and beside it the `_headers` with the policy that holds the
 * page to that. Rejects with vite's own words.
 */
export async function buildDashboard(folder: string): Promise<void> {
  const { script, style } = await compile();
  const page = readFileSync(join(SOURCE, "index.html"), "utf8")
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
    .replace(/<script[^>]*><\/script>/, () => `<script type="module">${script}</script>`);
  write(join(folder, "index.html"), page);
  write(join(folder, "_headers"), `/\n  Content-Security-Policy: ${policy(script, style)}\n`);
}

async function compile(): Promise<{ script: string; style: string }> {
  const built = await build({
    configFile: false,
    root: SOURCE,
    logLevel: "error",
    build: {
      write: false,
      target: "es2023",
      // Left alone, light-dark() and nesting stay what the browsers read themselves.
      cssTarget: ["chrome125", "firefox128", "safari17.5"],
      modulePreload: false,
    },
  });
  if (!("output" in built)) throw new Error("vite gave no output");
  let script = "";
  let style = "";
  for (const part of built.output) {
    if (part.type === "chunk") script += part.code;
    else if (part.fileName.endsWith(".css")) style += part.source;
  }
  // Inside a page a script ends at the first such text, wherever it stands.
  return { script: script.trim().replaceAll("</script", "<\\/script"), style: style.trim() };
}

function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src '${hash(script)}'`,
    `style-src '${hash(style)}'`,
    "img-src data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

const hash = (text: string) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** Several may build at once, and one may serve meanwhile: a file is there whole or as it was. */
function write(file: string, text: string) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${dirname(file)}.${process.pid}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
