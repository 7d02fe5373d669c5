import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { AcquireOptions, JoinOptions } from "../../../src/client/index.ts";
import { until } from "./until.ts";

/** What a pod's process is told. */
export type Order =
  | { do: "acquire"; options: AcquireOptions }
  | { do: "release" }
  /** Blocks the event loop, so that nothing else runs in it. */
  | { do: "block"; ms: number }
  /** Works under the lease for so long or until it is lost, then releases it. */
  | { do: "work"; ms: number }
  /** From now on only work keeps the process alive. */
  | { do: "let-go" };

/** What a pod's process tells. */
export type Told =
  | { event: "joined" }
  | { event: "granted"; id: string | null }
  | { event: "lost"; reason: string }
  | { event: "released"; outcome: string }
  | { event: "unblocked"; lost: boolean }
  | { event: "closing"; reason: string }
  | { event: "unhandled"; error: string };

/** How a pod's process starts. */
export interface PodStart {
  url: string;
  key: string;
  fleet: string;
  join: Omit<JoinOptions, "onDrain" | "onReplaced" | "onBeatError" | "signal">;
}

/** A pod in an operating-system process of its own. */
export interface PodProcess extends AsyncDisposable {
  child: ChildProcess;
  told: Told[];
  tell(order: Order): void;
  /** Waits until an event was told, and gives the first of its kind. */
  hear<Event extends Told["event"]>(event: Event, limitMs?: number): Promise<Extract<Told, { event: Event }>>;
  /** Resolves to the exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a process that joins as a pod, and waits until it has joined. */
export async function startPodProcess(start: PodStart): Promise<PodProcess> {
  const program = fileURLToPath(new URL("./pod-program.ts", import.meta.url));
  const child = fork(program, [JSON.stringify(start)], {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const told: Told[] = [];
  child.on("message", (message) => told.push(message as Told));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal)),
  );
  const pod: PodProcess = {
    child,
    told,
    ended,
    tell: (order) => child.send(order),
    hear: async (event, limitMs) => {
      const find = () => told.find((one) => one.event === event);
      await until(`the process tells ${event}`, () => find() !== undefined, limitMs);
      return find() as never;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
  await Promise.race([pod.hear("joined", 20_000), ended.then((code) => failed(code))]);
  return pod;
}

function failed(code: unknown): never {
  throw new Error(`the pod's process ended with ${code} before it joined`);
}
