import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const UNPACKED = fileURLToPath(new URL("../../.data/bin/promtool", import.meta.url));

/** Runs Prometheus's own checker, as scripts/setup has unpacked it or from the PATH; gives its status and all it said. */
export function promtool(args: readonly string[], input = ""): { status: number | null; said: string } {
  const program = existsSync(UNPACKED) ? UNPACKED : "promtool";
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", input });
  if (error) throw new Error(`promtool cannot run (${error.message}); ./scripts/setup test brings it`);
  return { status, said: stdout + stderr };
}
