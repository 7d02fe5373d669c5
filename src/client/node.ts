/** What this client uses of Node's `process`, where there is one. */
export interface NodeProcess {
  on(event: "SIGTERM", run: () => void): void;
  off(event: "SIGTERM", run: () => void): void;
  listenerCount(event: "SIGTERM"): number;
  kill(pid: number, signal: "SIGTERM"): void;
  pid: number;
  exit(code: number): void;
  execArgv?: string[];
  getBuiltinModule?(name: string): unknown;
}

/** Node's `process`, or undefined in a runtime without signals. */
export function nodeProcess(): NodeProcess | undefined {
  const { process } = globalThis as { process?: Partial<NodeProcess> };
  return typeof process?.on === "function" && typeof process.off === "function"
    ? (process as NodeProcess)
    : undefined;
}

/** Lets many wait for one signal, of which Node 20 warns as a leak: a pod has one, however many ask it for slots. */
export function allowManyListeners(signal: AbortSignal): void {
  const events = nodeProcess()?.getBuiltinModule?.("node:events") as EventsModule | undefined;
  events?.setMaxListeners?.(0, signal);
}

interface EventsModule {
  setMaxListeners?(most: number, target: EventTarget): void;
}
