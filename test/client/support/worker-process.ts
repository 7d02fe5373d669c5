import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { WorkerCounts, WorkOptions } from "../../../src/client/index.ts";
import { until } from "./until.ts";

/** What a task asks of a worker's process: to take so long. */
export interface Work {
  ms: number;
}

/** What a worker's process tells. */
export type WorkerTold =
  | { event: "ready" }
  | { event: "started"; id: string; delivery: number; running: number }
  | { event: "lost"; id: string; reason: string }
  | { event: "done"; counts: WorkerCounts }
  | { event: "unhandled"; error: string };

/** How a worker's process starts. */
export interface WorkerStart {
  url: string;
  key: string;
  queue: string;
  work: WorkOptions;
}

/** A worker in an operating-system process of its own. */
export interface WorkerProcess extends AsyncDisposable {
  child: ChildProcess;
  /** What it told, with the time it was heard. */
  told: (WorkerTold & { at: number })[];
  of<Event extends WorkerTold["event"]>(
    event: Event,
  ): Extract<WorkerTold & { at: number }, { event: Event }>[];
  /** Waits until an event was told so often. */
  hear(event: WorkerTold["event"], times?: number, limitMs?: number): Promise<void>;
  /** Resolves to the exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a process that works, and waits until it has joined. */
export async function startWorkerProcess(start: WorkerStart): Promise<WorkerProcess> {
  const program = fileURLToPath(new URL("./worker-program.ts", import.meta.url));
  const child = fork(program, [JSON.stringify(start)], {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const told: WorkerProcess["told"] = [];
  child.on("message", (message) => told.push({ ...(message as WorkerTold), at: performance.now() }));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal)),
  );
  const of = (event: WorkerTold["event"]) => told.filter((one) => one.event === event) as never;
  const worker: WorkerProcess = {
    child,
    told,
    of,
    ended,
    hear: (event, times = 1, limitMs = 20_000) =>
      until(
        `the process tells ${event} ${times} times`,
        () => told.filter((one) => one.event === event).length >= times,
        limitMs,
      ),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
  await Promise.race([
    worker.hear("ready", 1, 40_000),
    ended.then((code) => {
      throw new Error(`the worker's process ended with ${code} before it joined`);
    }),
  ]);
  return worker;
}
