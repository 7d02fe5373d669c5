import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endWithParent } from "./guard.ts";
import { askRedis } from "./redis-inline.ts";

const READY_TIMEOUT_MS = 15_000;

/** What one run of the program needs; `busPort` makes it a cluster node. */
export interface RedisRun {
  program: string;
  port: number;
  dir: string;
  appendonly: boolean;
  busPort: number | undefined;
  onDeath: ((why: string) => void) | undefined;
}

/** One running Redis process; end() waits until it is gone. */
export interface RedisProcess {
  pid: number;
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Starts the program and waits until it serves; rejects with the last lines of its log when it does not within 15 s. */
export async function launchRedis(run: RedisRun): Promise<RedisProcess> {
  const logFile = join(run.dir, "redis.log");
  const log = openSync(logFile, "w");
  // Its own process group: Ctrl-C in a terminal must reach only us, who then end it in order.
  const child = spawn(run.program, settings(run), { stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  let ended: string | undefined;
  let ending = false;
  const gone = new Promise<void>((resolve) => {
    const end = (why: string) => {
      ended = why;
      resolve();
    };
    child.once("error", (error) => end(error.message));
    child.once("exit", (code, signal) => end(signal ?? `exit code ${code}`));
  });
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    ending = true;
    child.kill(signal);
    await gone;
  };
  const guard = endWithParent(child);
  gone.then(() => guard?.kill("SIGKILL"));

  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isServing(run, child.pid))) {
    if (ended === undefined && Date.now() < deadline) await delay(20);
    else {
      await end("SIGKILL");
      throw new Error(`Redis did not start (${ended}): ${lastLines(logFile)}`);
    }
  }
  gone.then(() => {
    if (!ending) run.onDeath?.(`Redis ended unexpectedly (${ended})`);
  });
  return { pid: child.pid ?? 0, end };
}

function settings({ port, dir, appendonly, busPort }: RedisRun): string[] {
  const basics = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no"];
  const keep = ["--save", "", "--appendonly", appendonly ? "yes" : "no"];
  const cluster = busPort ? ["--cluster-enabled", "yes", "--cluster-port", String(busPort)] : [];
  return [...basics, ...keep, ...cluster];
}

async function isServing({ port, busPort }: RedisRun, pid: number | undefined): Promise<boolean> {
  try {
    // Another Redis may have taken the port meanwhile, and would answer as well.
    if (!(await askRedis(port, "INFO server")).includes(`process_id:${pid}\r`)) return false;
    if (!busPort) return true;
    const state = await askRedis(port, "CLUSTER INFO");
    if (state.includes("cluster_slots_assigned:0")) await askRedis(port, "CLUSTER ADDSLOTSRANGE 0 16383");
    return state.includes("cluster_state:ok");
  } catch {
    return false;
  }
}

function lastLines(file: string): string {
  return readFileSync(file, "utf8").trim().split("\n").slice(-3).join(" | ");
}
