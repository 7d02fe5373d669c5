import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { until } from "./front.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const running = new Set<number>();

// A failed test must leave nothing behind; what dev started ends with it.
afterEach(() => {
  for (const pid of running) process.kill(pid, "SIGKILL");
});

/** Starts a script of the project as a person would, and collects what it says. */
export function runScript(name: string, args: string[], env?: Record<string, string>) {
  return runProgram(`${ROOT}/scripts/${name}`, args, env);
}

/** Starts a program from another folder, without a store in its environment, and collects what it says. */
export function runProgram(program: string, args: string[], env: Record<string, string> = {}) {
  const { UPSTASH_REDIS_REST_URL: _, UPSTASH_REDIS_REST_TOKEN: __, ...inherited } = process.env;
  const child = spawn(program, args, {
    cwd: "/",
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    said.stderr += chunk;
  });
  const pid = child.pid ?? 0;
  running.add(pid);
  child.once("exit", () => running.delete(pid));
  /** Exit code, or the signal that ended it, once all output was read. */
  const ended = new Promise<number | string | null>((resolve) => {
    child.once("close", (code, signal) => resolve(signal ?? code));
  });
  return { child, pid, said, ended };
}

/** Starts scripts/dev and waits for its ready line; throws what it said instead. */
export async function startDev(args: string[], env?: Record<string, string>) {
  const dev = runScript("dev", args, env);
  let hasEnded = false;
  dev.ended.then(() => {
    hasEnded = true;
  });
  await until(() => hasEnded || dev.said.stdout.includes("\n"), 50_000);
  const ready = /^fleetgate ready url=(http:\/\/127\.0\.0\.1:\d+) key=(fg_\S+)\n$/.exec(dev.said.stdout);
  if (!ready?.[1] || !ready[2]) throw new Error(`dev said: ${dev.said.stdout}${dev.said.stderr}`);
  const [, url, key] = ready;
  const call = (path: string, init: RequestInit = {}) =>
    fetch(url + path, {
      ...init,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
  return { ...dev, url, key, call, family: descendants(dev.pid) };
}

/** All processes under `pid`, with their commands. */
export function descendants(pid: number): { pid: number; command: string }[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" }).trim().split("\n");
  const all = lines.map((line) => {
    const [own, parent, ...command] = line.trim().split(/\s+/);
    return { pid: Number(own), parent: Number(parent), command: command.join(" ") };
  });
  const below = (parent: number): typeof all =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
