import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { flatTypes } from "./flat-types.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const PROJECT = join(ROOT, "tsconfig.client.json");

/** Builds the client as a package of its own in `dir`/fleetgate and packs it; gives the path of the tarball. */
export function packClient(dir: string): string {
  const folder = join(dir, "fleetgate");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync(process.execPath, [TSC, "-p", PROJECT, "--outDir", folder], { stdio: "inherit" });
  dropServer(folder);
  for (const file of globSync("**/*.d.ts", { cwd: folder })) nameWhatIsThere(join(folder, file));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(description(), null, 2)}\n`);
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  // Beside each other, as in docs/, so that the one's links to the other hold.
  cpSync(join(ROOT, "docs/client.md"), join(folder, "README.md"));
  cpSync(join(ROOT, "docs/protocol.md"), join(folder, "protocol.md"));
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", dir, folder], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return join(dir, filename);
}

/** The client takes types from schemas and no code: in their place stand the types alone, written out. */
function dropServer(folder: string): void {
  const rooms = globSync("*/schema.d.ts", { cwd: folder }).map(dirname);
  const types = flatTypes(
    PROJECT,
    rooms.map((room) => join(ROOT, "src", room, "schema.ts")),
  );
  for (const part of globSync("*/", { cwd: folder }))
    if (part !== "client") rmSync(join(folder, part), { recursive: true });
  rmSync(join(folder, "problems.js"));
  for (const room of rooms) {
    mkdirSync(join(folder, room));
    writeFileSync(join(folder, room, "schema.d.ts"), types.get(join(ROOT, "src", room, "schema.ts")) ?? "");
  }
}

/** The compiler rewrites the imports of code, not those of declarations. */
function nameWhatIsThere(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/(["'])(\.{1,2}\/[^"']*)\.ts\1/g, "$1$2.js$1"));
}

function description() {
  const root = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { name, version, license, type, engines } = root;
  const entry = { types: "./client/index.d.ts", default: "./client/index.js" };
  return {
    name,
    version,
    description: "The TypeScript client of Fleetgate: take turns, keep a reserve free, work on its queues.",
    license,
    type,
    sideEffects: false,
    engines,
    exports: { ".": entry, "./client": entry, "./package.json": "./package.json" },
    files: ["client", "*/schema.d.ts", "problems.d.ts", "raw-json.js", "raw-json.d.ts", "protocol.md"],
  };
}
