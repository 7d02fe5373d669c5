import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { packClient } from "./lib/client-package.ts";

const HELP = `fleetgate pack-client: packs the TypeScript client, to be installed with npm

  ./scripts/pack-client [DIR]     default: dist

It prints the path of the tarball: npm install ./dist/fleetgate-….tgz
`;

const [dir] = process.argv.slice(2);
if (dir === "--help" || dir === "-h") {
  process.stdout.write(HELP);
} else {
  const target = dir === undefined ? fileURLToPath(new URL("../dist", import.meta.url)) : resolve(dir);
  mkdirSync(target, { recursive: true });
  console.log(packClient(target));
}
