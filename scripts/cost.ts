import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { costPage } from "./lib/cost.ts";

const HELP = `fleetgate cost: what a month costs on Upstash and Cloudflare Workers

  ./scripts/cost [--write]

  --write  write docs/cost.md instead of showing it
`;
const PAGE = fileURLToPath(new URL("../docs/cost.md", import.meta.url));

try {
  const { values } = parseArgs({
    options: { write: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) process.stdout.write(HELP);
  else if (values.write) writeFileSync(PAGE, costPage());
  else process.stdout.write(costPage());
} catch (error) {
  console.error(`fleetgate cost: ${(error as Error).message}`);
  process.exitCode = 1;
}
