import { deferred } from "../deferred.ts";
import { UnsupportedError } from "../errors.ts";
import { nodeProcess } from "../node.ts";
import type { Beater, BeaterEvents } from "./beater.ts";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";

/** The parts of node:worker_threads used here; named so that other runtimes need no Node types. */
interface WorkerThreads {
  Worker: new (
    file: URL,
    options: { workerData: unknown; transferList: unknown[]; execArgv?: string[] },
  ) => ThreadWorker;
  MessageChannel: new () => { port1: Port; port2: Port };
  receiveMessageOnPort(port: Port): { message: FromThread } | undefined;
}
interface ThreadWorker {
  on(event: "error" | "exit", run: (cause: unknown) => void): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<number>;
}
interface Port {
  on(event: "message", run: (message: FromThread) => void): void;
  postMessage(message: ToThread): void;
  unref(): void;
  close(): void;
}

/** A beater in a thread of its own; `ready` resolves once it beats, or rejects if the thread cannot start. */
export interface ThreadBeater {
  beater: Beater;
  ready: Promise<void>;
}

/** Finds Node's worker threads; throws UnsupportedError in any other runtime. */
export function workerThreads(): WorkerThreads {
  // Others have a module of this name, but there it has no threads, or none that beats while the main one is blocked.
  const elsewhere =
    "Deno" in globalThis || "Bun" in globalThis || globalThis.navigator?.userAgent === "Cloudflare-Workers";
  const threads = elsewhere ? undefined : nodeProcess()?.getBuiltinModule?.("node:worker_threads");
  if (threads === undefined) throw new UnsupportedError("thread: true needs the worker threads of Node");
  return threads as WorkerThreads;
}

/** Starts a thread that beats. It never keeps the process alive, and dies with it. */
export function startThread(
  threads: WorkerThreads,
  data: Omit<ThreadData<never>, "port">,
  events: BeaterEvents,
): ThreadBeater {
  const { port1: port, port2 } = new threads.MessageChannel();
  const file = new URL(`./keeper-thread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);
  const workerData = { ...data, port: port2 };
  // A program given as text (`node --input-type=module -e …`) hands on a flag that no file may be run with.
  const fromText = nodeProcess()?.execArgv?.some((flag) => flag.startsWith("--input-type"));
  const worker = new threads.Worker(file, {
    workerData,
    transferList: [port2],
    ...(fromText && { execArgv: [] }),
  });
  const ready = deferred();
  const ended = deferred();
  let stopping = false;

  function hear(message: FromThread): void {
    if (message.type === "ready") started();
    else if (message.type === "lost") events.lost(message.id, message.reason);
    else if (message.type === "directive") events.directive(message.directive);
    else if (message.type === "replaced") events.replaced();
    else if (message.type === "failed") events.failed(new Error(message.message), message.failures);
    else ended.resolve();
  }

  function started(): void {
    // Until now whoever joins is waiting; from now on the thread keeps nobody.
    worker.unref();
    port.unref();
    ready.resolve();
  }

  function gone(cause: unknown): void {
    ended.resolve();
    if (stopping) return;
    stopping = true;
    const error = cause instanceof Error ? cause : new Error(`the keeper's thread ended with ${cause}`);
    ready.reject(error);
    events.stopped(error);
  }

  port.on("message", hear);
  worker.on("error", gone);
  worker.on("exit", gone);

  function drainPort(): void {
    // A blocked main thread has not heard yet what the thread told it meanwhile.
    for (let next = threads.receiveMessageOnPort(port); next; next = threads.receiveMessageOnPort(port))
      hear(next.message);
  }

  return {
    ready: ready.promise,
    beater: {
      hold: (lease) => port.postMessage({ type: "hold", lease }),
      drop: (id) => port.postMessage({ type: "drop", id }),
      setState: (state) => port.postMessage({ type: "state", state }),
      check: drainPort,
      stop: async () => {
        stopping = true;
        worker.ref();
        port.postMessage({ type: "stop" });
        await ended.promise;
        port.close();
        await worker.terminate();
      },
    },
  };
}
