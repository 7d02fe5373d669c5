import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ROOT, runProgram } from "./dev-process.ts";

const dir = mkdtempSync(join(tmpdir(), "fleetgate-setup-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Takes a second, says that it ran, and leaves what a true one does. */
const NPM = `#!/bin/sh
echo ran >> ran
sleep 1
mkdir -p node_modules/.bin && touch node_modules/.bin/node node_modules/.package-lock.json
chmod +x node_modules/.bin/node
`;

test("of three first starts at once one installs, and the others wait for it", async () => {
  mkdirSync(join(dir, "scripts"));
  mkdirSync(join(dir, "bin"));
  cpSync(`${ROOT}/scripts/setup`, join(dir, "scripts/setup"));
  writeFileSync(join(dir, "package-lock.json"), "{}");
  writeFileSync(join(dir, "bin/npm"), NPM);
  chmodSync(join(dir, "bin/npm"), 0o755);
  const path = [join(dir, "bin"), process.env.PATH].join(delimiter);
  const runs = [1, 2, 3].map(() => runProgram(join(dir, "scripts/setup"), ["packages"], { PATH: path }));
  expect(await Promise.all(runs.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(readFileSync(join(dir, "ran"), "utf8")).toBe("ran\n");
  const said = runs.map(({ said }) => said.stderr).sort();
  expect(said.filter((line) => /installing npm packages\n$/.test(line))).toHaveLength(1);
  expect(said.filter((line) => /waiting for another start that installs\n$/.test(line))).toHaveLength(2);
});
