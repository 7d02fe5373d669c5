import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseEnv } from "../src/env.ts";

const HELP = `fleetgate deploy: puts the Worker on Cloudflare

  ./scripts/deploy [--secrets FILE] [--dry-run]

  --secrets  JSON file {"UPSTASH_REDIS_REST_URL": …, "UPSTASH_REDIS_REST_TOKEN": …, "FLEETGATE_KEYS": …}, checked and
             sent with the Worker; without it the secrets must be set already (npx wrangler secret put NAME)
  --dry-run  check and bundle, send nothing
`;
const NEEDED = ["UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN", "FLEETGATE_KEYS"];
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WRANGLER = join(
  dirname(fileURLToPath(import.meta.resolve("wrangler/package.json"))),
  "bin/wrangler.js",
);

function wrangler(args: string[], stdio: "inherit" | "pipe") {
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
  return spawnSync(process.execPath, [WRANGLER, ...args], { cwd: ROOT, env, stdio, encoding: "utf8" });
}

/** Checks a file of secrets as the Worker will when it starts. Throws what is wrong, never a value. */
function checkFile(file: string): void {
  let bindings: Record<string, unknown>;
  try {
    bindings = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new Error(`${file} cannot be read as JSON`);
  }
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  parseEnv(Object.fromEntries(Object.entries(bindings).map(([name, value]) => [name, text(value)])));
  const other = Object.entries(bindings).find(([, value]) => typeof value !== "string");
  if (other) throw new Error(`${other[0]} must be a text: the JSON inside it in quotes`);
}

/** Checks that Cloudflare holds the secrets; it tells their names alone. */
function checkRemote(): void {
  const { status, stdout, stderr } = wrangler(["secret", "list", "--format", "json"], "pipe");
  if (status !== 0)
    throw new Error(`the secrets cannot be listed (npx wrangler login?): ${stderr.trim().split("\n", 1)[0]}`);
  const names = new Set((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name));
  const missing = NEEDED.filter((name) => !names.has(name));
  const how = missing.map((name) => `\n  npx wrangler secret put ${name}`).join("");
  if (missing.length > 0) throw new Error(`secrets are missing; set them first, or give --secrets:${how}`);
}

try {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    options: { secrets: text, "dry-run": flag, help: { ...flag, short: "h" } },
  });
  if (values.help) {
    process.stdout.write(HELP);
  } else {
    if (values.secrets) checkFile(values.secrets);
    else if (!values["dry-run"]) checkRemote();
    const args = ["deploy"];
    if (values["dry-run"]) args.push("--dry-run");
    else if (values.secrets) args.push("--secrets-file", values.secrets);
    process.exitCode = wrangler(args, "inherit").status ?? 1;
  }
} catch (error) {
  console.error(`fleetgate deploy: ${(error as Error).message}`);
  process.exitCode = 1;
}
