import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "../programs.ts";

const QUIET = 0.8;

/**
 * On what and when figures were taken, in one paragraph; where they are times the load tells whether others used the
 * machine too.
 */
export function describeMachine({ timed }: { timed: boolean }): string {
  const [cpu] = cpus();
  const redis = execFileSync(findProgram("redis-server", "valkey-server"), ["--version"], {
    encoding: "utf8",
  });
  const version = /v=(\S+)/.exec(redis)?.[1] ?? redis.trim();
  return [
    `${new Date().toISOString().slice(0, 10)}`,
    `${cpus().length} cores of ${cpu?.model.trim() ?? "an unknown processor"}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Node ${process.versions.node}`,
    `Redis ${version}`,
    `workerd ${versionOf("workerd")}`,
    ...(timed ? [describeLoad()] : []),
  ].join(" · ");
}

function describeLoad(): string {
  const [load = 0] = loadavg();
  return `load before the start ${load.toFixed(1)}${load > QUIET ? " (the machine was shared: times are too long)" : ""}`;
}

/** The installed version of a package, "not installed" where there is none. */
export function versionOf(name: string): string {
  try {
    const file = fileURLToPath(import.meta.resolve(name));
    for (let dir = dirname(file); dir !== dirname(dir); dir = dirname(dir)) {
      const found = versionIn(join(dir, "package.json"), name);
      if (found) return found;
    }
  } catch {
    // It is not installed.
  }
  return "not installed";
}

function versionIn(file: string, name: string): string | undefined {
  try {
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    return manifest.name === name ? manifest.version : undefined;
  } catch {
    return undefined;
  }
}
