import { inject } from "vitest";
import { type App, createApp } from "../../src/app.ts";
import { type Auth, type KeyRecord, makeKeyAuth } from "../../src/http/auth.ts";
import type { LogLine } from "../../src/http/log.ts";
import type { LoadOf } from "../../src/rates/load.ts";
import type { Clock } from "../../src/redis/clock.ts";
import { makeKeys } from "../../src/redis/keys.ts";
import { makeStore } from "../../src/redis/store.ts";
import { type Fault, type FaultLane, type FaultyKey, faultLane } from "./faults.ts";

/** An answer as a test reads it. */
export interface Heard {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape.
  body: any;
  headers: Headers;
}

export interface WorldOptions {
  /** Front to use instead of the shared one. */
  restUrl?: string;
  /** Where only the coordinator finds its store, when that is not `restUrl`: a lane of `faultLane()`. */
  storeUrl?: string;
  prefix?: string;
  /** Start of the world's clock. */
  now?: number;
  /** Milliseconds this isolate's own clock is wrong by. */
  skew?: number;
  timeoutMs?: number;
  /** Instead of the keys below. */
  auth?: Auth;
  /** What limits that adapt hear of queues. */
  loadOf?: LoadOf;
}

/** One coordinator over real Redis with a key prefix and a clock of its own; `isolate()` adds another over the same. */
export class World {
  readonly prefix: string;
  readonly lines: LogLine[] = [];
  readonly background: Promise<unknown>[] = [];
  readonly app: App;
  readonly #options: WorldOptions;
  readonly #time: { now: number };

  constructor(options: WorldOptions = {}, time = { now: options.now ?? 1_790_000_000_000 }) {
    this.#options = options;
    this.#time = time;
    this.prefix = options.prefix ?? `t${crypto.randomUUID().slice(0, 13)}`;
    const { timeoutMs = 5_000 } = options;
    const clock: Clock = {
      now: async () => time.now,
      local: () => time.now + (options.skew ?? 0),
      sleep: async (ms) => {
        time.now += ms;
      },
    };
    this.app = createApp({
      store: makeStore({ url: options.storeUrl ?? this.restUrl, token: inject("restToken"), timeoutMs }),
      keys: makeKeys(this.prefix),
      clock,
      defer: (work) => this.background.push(work),
      auth: options.auth ?? makeKeyAuth(KEYS),
      log: (line) => this.lines.push(line),
      ...(options.loadOf ? { loadOf: options.loadOf } : {}),
    });
  }

  get restUrl(): string {
    return this.#options.restUrl ?? inject("restUrl");
  }

  get now(): number {
    return this.#time.now;
  }

  /** Another isolate: memory of its own over the same Redis and the same clock. */
  isolate(options: WorldOptions = {}): World {
    return new World({ ...this.#options, ...options, prefix: this.prefix }, this.#time);
  }

  /** Another isolate, whose store misbehaves; `suffix` names the one kind of key that meets the fault. */
  faulty(fault: Fault, suffix?: FaultyKey): { lane: FaultLane; isolate: World } {
    const lane = faultLane(fault, suffix);
    return { lane, isolate: this.isolate({ storeUrl: lane.storeUrl }) };
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#time.now += ms;
  }

  async call(method: string, path: string, body?: unknown, key = "admin-key"): Promise<Heard> {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    const init: RequestInit = { method, headers };
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    return this.send(path, init);
  }

  async send(path: string, init: RequestInit): Promise<Heard> {
    const answer = await this.app.request(`https://fleetgate.test${path}`, init);
    const text = await answer.text();
    const json = /json/.test(answer.headers.get("content-type") ?? "");
    return { status: answer.status, body: json ? JSON.parse(text) : text, headers: answer.headers };
  }

  post = (path: string, body: unknown) => this.call("POST", path, body);
  put = (path: string, body: unknown) => this.call("PUT", path, body);
  get = (path: string) => this.call("GET", path);

  /** One raw command to this world's Redis. */
  async redis<R = unknown>(...command: (string | number)[]): Promise<R> {
    const [answer] = await this.#pipeline([command]);
    if (answer?.error !== undefined) throw new Error(answer.error);
    return answer?.result as R;
  }

  async #pipeline(commands: (string | number)[][]): Promise<{ result?: unknown; error?: string }[]> {
    if (commands.length === 0) return [];
    const headers = { authorization: `Bearer ${inject("restToken")}` };
    const body = JSON.stringify(commands);
    return (await fetch(`${this.restUrl}/pipeline`, { method: "POST", headers, body })).json();
  }

  /** Every key of this world with its content, to see that nothing changed. */
  async snapshot(): Promise<string> {
    const keys = (await this.redis<string[]>("KEYS", `${this.prefix}:*`)).sort();
    const types = await this.#pipeline(keys.map((key) => ["TYPE", key]));
    const reads = keys.map((key, at) => READS[String(types[at]?.result)]?.(key) ?? ["GET", key]);
    const contents = await this.#pipeline(reads);
    return JSON.stringify(keys.map((key, at) => [key, contents[at]?.result]));
  }

  /** Waits for what was deferred. */
  async settle(): Promise<void> {
    await Promise.all(this.background.splice(0));
  }
}

/** How a key of each type is read whole. */
const READS: Record<string, (key: string) => (string | number)[]> = {
  zset: (key) => ["ZRANGE", key, 0, -1, "WITHSCORES"],
  hash: (key) => ["HGETALL", key],
  list: (key) => ["LRANGE", key, 0, -1],
};

/** Keys named after what they may do; `foreign-key` may touch only the fleet and queue named elsewhere. */
const KEYS: KeyRecord[] = [
  key("admin", "69a5265506c94c77b787a7d7377b7685a0eff82e33920a71e7ee22cd6154953e", { scopes: ["admin"] }),
  key("worker", "3a689b32a992b1ded53cec9fc20081eef3695855bc3f5bcad36b527840a36d90", { scopes: ["worker"] }),
  key("producer", "b178fa90e990aca0a826ca217e51f66a59125ddb4d95bae230006bde38722829", {
    scopes: ["producer"],
  }),
  key("read", "8578df6c579d44d3bf7caeada69ed9cbca30b318a50a0e60216b46760edf5477", { scopes: ["read"] }),
  key("foreign", "465fb5a854ba9a1bab57d32bf2a8bb520bb0f7a88cf1fd1d7acbed76a81c4709", {
    scopes: ["admin"],
    fleets: ["elsewhere"],
    queues: ["elsewhere"],
  }),
];

function key(id: string, sha256: string, may: Pick<KeyRecord, "scopes" | "fleets" | "queues">): KeyRecord {
  return { id, sha256, ...may };
}
