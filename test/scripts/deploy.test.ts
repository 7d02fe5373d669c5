import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 60_000 });

const DEPLOY = fileURLToPath(new URL("../../scripts/deploy", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "fleetgate-deploy-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const deploy = (...args: string[]) => spawnSync(DEPLOY, ["--dry-run", ...args], { encoding: "utf8" });

function secrets(values: Record<string, unknown>): string {
  const file = join(dir, "secrets.json");
  writeFileSync(file, JSON.stringify(values));
  return file;
}

const good = {
  UPSTASH_REDIS_REST_URL: "https://example.upstash.io",
  UPSTASH_REDIS_REST_TOKEN: "very-secret",
  FLEETGATE_KEYS: JSON.stringify([{ id: "a", sha256: "0".repeat(64), scopes: ["admin"] }]),
};

test("a dry run checks the secrets, bundles, and sends nothing", () => {
  const { status, stdout } = deploy("--secrets", secrets(good));
  expect(status).toBe(0);
  expect(stdout).toMatch(/dry-run/);
});

test.each([
  ["UPSTASH_REDIS_REST_URL", "no url"],
  ["UPSTASH_REDIS_REST_TOKEN", ""],
  ["FLEETGATE_KEYS", "[{}]"],
  ["FLEETGATE_KEYS", "no json"],
  ["FLEETGATE_KEYS", []],
])("a wrong %s is named before anything is bundled, and no secret is told", (name, value) => {
  const { status, stderr, stdout } = deploy("--secrets", secrets({ ...good, [name]: value }));
  expect(status).toBe(1);
  expect(stderr).toMatch(/^fleetgate deploy: .*/);
  expect(stderr).toContain(name);
  expect(stdout + stderr).not.toContain("very-secret");
  expect(stdout).toBe("");
});
