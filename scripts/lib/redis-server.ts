import { mkdirSync } from "node:fs";
import { freePort, isBusy } from "./ports.ts";
import { findProgram } from "./programs.ts";
import { launchRedis, type RedisProcess, type RedisRun } from "./redis-process.ts";

/** How a private Redis runs: its data folder, its port (0 takes a free one), and whether it keeps data or is a cluster. */
export interface RedisServerOptions {
  dir: string;
  port?: number;
  /** Keep the data in an append-only file under `dir`. */
  appendonly?: boolean;
  /** Run as a one-node cluster with all slots, so that keys without a common hash tag fail with CROSSSLOT. */
  cluster?: boolean;
  /** Called when the process ends although nobody here ended it. */
  onDeath?: (why: string) => void;
}

/** A running private Redis; stop() is SIGTERM, kill() is SIGKILL, and both wait for its end. */
export interface RedisServer {
  port: number;
  url: string;
  readonly pid: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again on the same port and folder, ending it first when it runs. */
  restart(): Promise<void>;
}

/** How many ports are tried where the caller named none. */
const PORTS = 5;

/** Starts redis-server or valkey-server on 127.0.0.1 and waits until it answers; rejects with the reason it gave. */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  const { dir, appendonly = false, cluster = false, onDeath } = options;
  const program = findProgram("redis-server", "valkey-server");
  if (options.port && (await isBusy(options.port))) throw new Error(`port ${options.port} is in use`);
  mkdirSync(dir, { recursive: true });
  const launch = async (tries: number): Promise<[RedisRun, RedisProcess]> => {
    const port = options.port || (await freePort());
    const busPort = cluster ? await freePort() : undefined;
    const run = { program, port, dir, appendonly, busPort, onDeath };
    try {
      return [run, await launchRedis(run)];
    } catch (error) {
      // Between choosing a port and taking it somebody else may have.
      if (options.port || tries <= 1 || !/Address already in use/.test(String(error))) throw error;
      return launch(tries - 1);
    }
  };
  const [run, first] = await launch(PORTS);
  let running = first;

  return {
    port: run.port,
    url: `redis://127.0.0.1:${run.port}`,
    get pid() {
      return running.pid;
    },
    stop: () => running.end("SIGTERM"),
    kill: () => running.end("SIGKILL"),
    async restart() {
      await running.end("SIGTERM");
      running = await launchRedis(run);
    },
  };
}
