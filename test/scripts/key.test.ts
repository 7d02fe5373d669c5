import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runScript } from "./dev-process.ts";

const dir = mkdtempSync(join(tmpdir(), "fleetgate-key-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function key(...args: string[]) {
  const run = runScript("key", args);
  return { code: await run.ended, ...run.said };
}

test("a key is 32 random bytes, and its record holds only its SHA-256", async () => {
  const { code, stdout } = await key("--id", "gpu-a", "--scopes", "worker,read");
  expect(code).toBe(0);
  const made = /^key +(fg_[\w-]{43})$/m.exec(stdout)?.[1] ?? "";
  const record = JSON.parse(/^record +(.*)$/m.exec(stdout)?.[1] ?? "");
  const sha256 = createHash("sha256").update(made).digest("hex");
  expect(record).toEqual({ id: "gpu-a", sha256, scopes: ["worker", "read"] });
  expect(stdout).toContain("wrangler secret put FLEETGATE_KEYS");
  expect((await key("--id", "gpu-a", "--scopes", "worker")).stdout).not.toContain(made);
});

test("fleets and queues are kept in the record", async () => {
  const { stdout } = await key(
    "--id",
    "a",
    "--scopes",
    "worker",
    "--fleets",
    "render,infer",
    "--queues",
    "q1",
  );
  expect(stdout).toContain('"fleets":["render","infer"],"queues":["q1"]');
});

test("--append collects records in a file that only its owner may read, and refuses an id twice", async () => {
  const file = join(dir, "keys.json");
  await key("--id", "a", "--scopes", "admin", "--append", file);
  await key("--id", "b", "--scopes", "read", "--append", file);
  const again = await key("--id", "b", "--scopes", "read", "--append", file);
  expect(again).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^.*already has a key with id b\n$/),
  });
  expect(JSON.parse(readFileSync(file, "utf8")).map(({ id }: { id: string }) => id)).toEqual(["a", "b"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a file with a space in its name is quoted for the shell", async () => {
  const { stdout } = await key("--id", "a", "--scopes", "read", "--append", join(dir, "my keys.json"));
  expect(stdout).toContain(`FLEETGATE_KEYS < '${join(dir, "my keys.json")}'\n`);
});

test.each([
  ["{oops", "cannot be read as JSON"],
  ["", "cannot be read as JSON"],
  ['{"id":"a"}', "holds no JSON array of keys"],
  ["[null]", "holds no JSON array of keys"],
])("--append to a file with %j names the file and leaves it as it is", async (text, why) => {
  const file = join(dir, "other.json");
  writeFileSync(file, text);
  const { code, stdout, stderr } = await key("--id", "a", "--scopes", "read", "--append", file);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: `fleetgate key: ${file} ${why}\n`,
  });
  expect(readFileSync(file, "utf8")).toBe(text);
});

test.each([
  [["--scopes", "worker"], "--id is needed"],
  [["--id", "a"], "--scopes is needed"],
  [["--id", "a b", "--scopes", "worker"], '--id: "a b" is no name'],
  [["--id", "a,b", "--scopes", "worker"], "--id is one name"],
  [["--id", "a", "--scopes", "worker,root"], '--scopes: "root" is none of'],
  [["--id", "a", "--scopes", "worker", "--fleets", "ok,../x"], '--fleets: "../x" is no name'],
  [["--id", "a", "--scopes", "worker", "--queues", ""], '--queues: "" is no name'],
])("%j is one line and exit code 1", async (args, why) => {
  const { code, stdout, stderr } = await key(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^fleetgate key: .*\n$/);
  expect(stderr).toContain(why);
});
