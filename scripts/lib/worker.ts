import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Bundle, bundleWorker } from "./bundle.ts";
import type { HostMessage, HostStart } from "./worker-host.ts";

const HOST = fileURLToPath(new URL("./worker-host.ts", import.meta.url));
const SCHEDULED_TIMEOUT_MS = 60_000;

/** What the Worker runs with: its port (0 takes a free one), its bindings, and where its log lines go. */
export interface WorkerOptions {
  port: number;
  bindings: Record<string, string>;
  /** Already bundled; by default it is bundled now. */
  bundle?: Bundle;
  /** Gets what the Worker logs; by default that is dropped. */
  logFile?: string;
  /** Called when workerd ends although nobody here ended it. */
  onDeath?: (why: string) => void;
}

/** A Worker that runs in workerd on 127.0.0.1. */
export interface RunningWorker {
  url: string;
  /** Runs the Worker's scheduled() handler once, as Cloudflare's cron would; rejects when it fails. */
  scheduled(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the Worker in workerd and waits until it listens; rejects when it cannot be bundled or the port is taken. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { port, bindings, logFile = "/dev/null", onDeath } = options;
  const bundle = options.bundle ?? (await bundleWorker());
  const log = openSync(logFile, "w");
  // Its own process group: Ctrl-C in a terminal must reach only us, who then end it in order.
  const host = fork(HOST, { stdio: ["ignore", log, log, "ipc"], detached: true });
  closeSync(log);
  const gone = new Promise<void>((resolve) => host.once("exit", () => resolve()));
  let ending = false;
  const stop = async () => {
    ending = true;
    if (host.connected) host.disconnect();
    await gone;
  };
  try {
    const url = await start(host, gone, { bundle, port, bindings });
    gone.then(() => ending || onDeath?.("workerd ended unexpectedly"));
    let runs = 0;
    return { url, stop, scheduled: () => runScheduled(host, ++runs) };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(host: ChildProcess, gone: Promise<void>, message: HostStart): Promise<string> {
  const answer = new Promise<HostMessage>((resolve) => host.once("message", resolve));
  host.send(message);
  const heard = await Promise.race([answer, gone]);
  if (heard && "ready" in heard) return heard.ready;
  throw new Error(
    `workerd did not start: ${heard && "failed" in heard ? heard.failed : "its process ended"}`,
  );
}

function runScheduled(host: ChildProcess, run: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: string) => {
      host.off("message", hear);
      clearTimeout(timer);
      if (error) reject(new Error(`the scheduled handler failed: ${error}`));
      else resolve();
    };
    const hear = (message: HostMessage) => {
      if ("scheduled" in message && message.scheduled === run) end(message.error);
    };
    const timer = setTimeout(end, SCHEDULED_TIMEOUT_MS, "no answer");
    host.on("message", hear);
    host.send({ scheduled: run }, (error) => error && end(error.message));
  });
}
