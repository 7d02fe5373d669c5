import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packClient } from "./lib/client-package.ts";

const HELP = `fleetgate pack-client: packs the TypeScript client, to be installed with npm

  ./scripts/pack-client [DIR]     default: dist

It prints the path of the tarball: npm install ./dist/fleetgate-….tgz
`;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean", short: "h" } },
  });
  const [dir, more] = positionals;
  if (more !== undefined) throw new Error(`"${more}" is one folder too many`);
  if (values.help) {
    process.stdout.write(HELP);
  } else {
    const target = dir === undefined ? fileURLToPath(new URL("../dist", import.meta.url)) : resolve(dir);
    mkdirSync(target, { recursive: true });
    console.log(packClient(target));
  }
} catch (error) {
  console.error(`fleetgate pack-client: ${(error as Error).message}`);
  process.exitCode = 1;
}
