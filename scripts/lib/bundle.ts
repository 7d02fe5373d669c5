import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WRANGLER = join(
  dirname(fileURLToPath(import.meta.resolve("wrangler/package.json"))),
  "bin/wrangler.js",
);

/** The folder named by [assets] in our wrangler.toml: the dashboard, once its [build] has run. */
export const ASSETS = join(ROOT, "dist/dashboard");

/** The Worker as it would be uploaded to Cloudflare. */
export interface Bundle {
  mainModule: string;
  compatibilityDate: string;
  compatibilityFlags: string[];
  /** The folder of files beside it. */
  assets: string;
  modules: { name: string; type: "esm" | "text" | "sourcemap" | "data"; contents: string }[];
}

/** Bundles the Worker of a wrangler.toml (by default ours) without touching the network; rejects with wrangler's own words. */
export async function bundleWorker(
  config = join(ROOT, "wrangler.toml"),
  signal?: AbortSignal,
): Promise<Bundle> {
  const dir = await mkdtemp(join(tmpdir(), "fleetgate-bundle-"));
  try {
    const file = join(dir, "upload");
    await runWrangler(["deploy", "--dry-run", "--config", config, "--outfile", file], dir, signal);
    return await readUpload(await readFile(file));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function runWrangler(args: string[], logDir: string, signal: AbortSignal | undefined): Promise<void> {
  const quiet = { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true", WRANGLER_LOG: "error" };
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...quiet, WRANGLER_LOG_PATH: logDir, NO_COLOR: "1" },
    stdio: ["ignore", "ignore", "pipe"],
    ...(signal && { signal }),
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    complaint += chunk;
  });
  let failure: Error | undefined;
  child.once("error", (error) => {
    failure = error;
  });
  // Also when given up: its folder must not be removed before it has ended.
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (failure) throw failure;
  if (code !== 0) throw new Error(`the Worker cannot be bundled: ${complaint.trim()}`);
}

/** Reads the multipart form that wrangler would send: one part of metadata, then one for each module. */
async function readUpload(upload: Buffer<ArrayBuffer>): Promise<Bundle> {
  const boundary = upload.toString("latin1", 2, upload.indexOf("\r\n"));
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const form = await new Response(upload, { headers }).formData();
  const metadata = JSON.parse(String(form.get("metadata")));
  const modules: Bundle["modules"] = [];
  for (const [name, part] of form) {
    if (typeof part !== "string")
      modules.push({ name, type: moduleType(part.type), contents: await part.text() });
  }
  return {
    mainModule: metadata.main_module,
    compatibilityDate: metadata.compatibility_date,
    compatibilityFlags: metadata.compatibility_flags ?? [],
    assets: ASSETS,
    modules,
  };
}

function moduleType(contentType: string): Bundle["modules"][number]["type"] {
  if (contentType.startsWith("application/javascript")) return "esm";
  if (contentType.startsWith("text/plain")) return "text";
  return contentType.startsWith("application/source-map") ? "sourcemap" : "data";
}
