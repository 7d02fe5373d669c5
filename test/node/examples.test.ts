import { execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import { findProgram } from "../../scripts/lib/programs.ts";
import { type Stack, startStack } from "../../scripts/lib/stack.ts";

const run = promisify(execFile);
const example = (path: string) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));

let dir: string;
let stack: Stack;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "fleetgate-examples-"));
  stack = await startStack({ dir, port: 0 });
}, 60_000);

afterAll(async () => {
  await stack.stop();
  rmSync(dir, { recursive: true });
});

test("the Express middleware answers 429 with Retry-After", { timeout: 120_000 }, async (context) => {
  const npm = programOrSkip(context, "npm");
  const folder = await installed("express-5.3.0", (at) =>
    run(npm, ["install", "--no-audit", "--no-fund", "--ignore-scripts", "express@5.3.0"], { cwd: at }),
  );
  copyFileSync(example("express/server.mjs"), join(folder, "server.mjs"));
  await show429("express", process.execPath, [join(folder, "server.mjs")]);
});

test("the Django middleware answers 429 with Retry-After", { timeout: 180_000 }, async (context) => {
  const python = programOrSkip(context, "python3");
  const folder = await installed("django-5.2.19", async (at) => {
    await run(python, ["-m", "venv", at]);
    await run(join(at, "bin", "python"), ["-m", "pip", "install", "--quiet", "django==5.2.19"]);
  });
  await show429("django", join(folder, "bin", "python"), [example("django/service.py")]);
});

test("the Java HttpClient service answers 429 with Retry-After", { timeout: 120_000 }, async (context) => {
  const java = programOrSkip(context, "java");
  const { stderr } = await run(java, ["-version"]);
  if (Number(/version "(\d+)/.exec(stderr)?.[1]) < 17)
    context.skip("the Java on this machine is older than 17");
  await show429("java", java, [example("java/Service.java")]);
});

function programOrSkip(context: TestContext, name: string): string {
  try {
    return findProgram(name);
  } catch {
    return context.skip(`${name} is not on this machine`);
  }
}

/** A folder that is filled once and kept for the next run. */
async function installed(name: string, fill: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(tmpdir(), "fleetgate-examples-cache", name);
  const mark = join(folder, ".installed");
  if (existsSync(mark)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await fill(folder);
  writeFileSync(mark, "");
  return folder;
}

/** Runs a service with a limit of two that hardly refills, and calls it three times. */
async function show429(limit: string, program: string, args: string[]): Promise<void> {
  const put = await fetch(`${stack.url}/v1/limits/${limit}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
    body: JSON.stringify({ algorithm: "token_bucket", capacity: 2, refill_per_s: 0.01 }),
  });
  expect(put.status).toBe(200);
  const env = { ...process.env, FLEETGATE_URL: stack.url, FLEETGATE_KEY: stack.key, LIMIT: limit, PORT: "0" };
  const service = spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => service.once("close", resolve));
  try {
    const url = await listening(service.stdout);
    for (const left of [1, 0]) {
      const answer = await fetch(url);
      expect([answer.status, await answer.json()]).toEqual([200, { hello: "world" }]);
      expect(answer.headers.get("ratelimit")).toMatch(new RegExp(`^"${limit}";r=${left};t=\\d+$`));
    }
    const refused = await fetch(url);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: "too many requests" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(90);
    expect(refused.headers.get("ratelimit-policy")).toBe(`"${limit}";q=2;w=200`);
  } finally {
    service.kill();
    await ended;
  }
}

async function listening(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url) return url;
  }
  throw new Error("the service ended before it listened");
}
