/** What the keeper uses of Node's `process`, where there is one. */
export interface NodeProcess {
  on(event: "SIGTERM", run: () => void): void;
  off(event: "SIGTERM", run: () => void): void;
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
