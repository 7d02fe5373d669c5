import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { askRedis } from "../redis-inline.ts";
import { type Stack, startStack } from "../stack.ts";

/** How the demo can hurt the store: only its own. */
export interface Outages {
  /** The store's process stands still for so long: connections stay open, nothing is answered. */
  hang(ms: number): Promise<void>;
  /** The store's process is killed, and started again on its data after so long. */
  crash(ms: number): Promise<void>;
}

/** A running coordinator; `outages` is undefined when it is not ours to hurt. */
export interface Coordinator {
  url: string;
  key: string;
  outages: Outages | undefined;
  stop(): Promise<void>;
}

/** Uses the coordinator that is given, or starts a whole one in `dir` as scripts/dev does. */
export async function findCoordinator(
  given: { url: string; key: string } | undefined,
  dir: string,
  signal: AbortSignal,
  onDeath: (why: string) => void,
): Promise<Coordinator> {
  if (given) return { ...given, outages: undefined, stop: async () => {} };
  const stack = await startStack({ dir, port: 0, appendonly: true, env: process.env, signal, onDeath });
  if (stack.redis) await keepWhatIsSaid(stack.redis.port);
  const outages = stack.redis && outagesOf(stack.redis);
  const stop = async () => {
    // A process that stands still would never hear that it is to end.
    if (stack.redis) signalTo(stack.redis.pid, "SIGCONT");
    await stack.stop();
  };
  return { url: stack.url, key: stack.key, outages, stop };
}

function outagesOf(redis: NonNullable<Stack["redis"]>): Outages {
  return {
    async hang(ms) {
      // In a shell of its own, so that it goes on again even if this process is killed meanwhile.
      const script = 'kill -STOP "$1"; sleep "$2"; kill -CONT "$1"';
      const shell = spawn("/bin/sh", ["-c", script, "hang", String(redis.pid), String(ms / 1_000)], {
        stdio: "ignore",
        detached: true,
      });
      await new Promise((resolve) => shell.once("exit", resolve));
    },
    async crash(ms) {
      await redis.kill();
      await delay(ms);
      await redis.restart();
      await keepWhatIsSaid(redis.port);
    },
  };
}

/** By default a killed Redis may forget a second of what it has answered, and then no account could close. */
async function keepWhatIsSaid(port: number): Promise<void> {
  await askRedis(port, "CONFIG SET appendfsync always");
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}
