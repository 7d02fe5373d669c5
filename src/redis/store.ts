import { Redis } from "@upstash/redis/cloudflare";
import type * as z from "zod/mini";
import { makeDeadlines } from "./deadlines.ts";
import {
  isScriptError,
  KeysApart,
  StoreFault,
  StoreUnavailable,
  storeMessage,
  type UnavailableKind,
} from "./errors.ts";
import type { Script, ScriptCall } from "./script.ts";

/** How to reach the store. `timeoutMs` bounds one trip (default 1,500 ms). */
export interface StoreOptions {
  url: string;
  token: string;
  timeoutMs?: number;
  /** Send Upstash's first line for locking only the script's keys. Default: on for hosts under upstash.io. */
  keyLocking?: boolean;
}

/** A plain read, for what needs no script; replies are checked against `reply`. */
export type Read =
  | { get: string }
  | { texts: readonly string[] }
  | { count: string; min: string; max: string }
  | { members: string; min: string; max: string };

/** The one door to Redis. Every method throws StoreUnavailable (503), StoreFault (500) or KeysApart (400), nothing else. */
export interface Store {
  run<K extends string, A extends string, R>(script: Script<K, A, R>, call: ScriptCall<K, A>): Promise<R>;
  /** Redis's TIME in epoch milliseconds. */
  time(): Promise<number>;
  /**
   * One script on several sets of keys, which may live in different slots: each run is atomic on its own, 50 go in a
   * trip. In the place of a run that met a record of another type, or gave a reply of another shape, stands undefined.
   */
  runs<K extends string, A extends string, R>(
    script: Script<K, A, R>,
    calls: readonly ScriptCall<K, A>[],
  ): Promise<(R | undefined)[]>;
  /** What the store says of itself, as INFO gives it; empty where it gives nothing. */
  info(): Promise<string>;
  /** One plain read. */
  read<R>(read: Read, reply: z.ZodMiniType<R>): Promise<R>;
  /**
   * Several plain reads in one trip; their keys may live in different slots. In the place of one that met a record of
   * another type, or gave a reply of another shape, stands undefined.
   */
  reads<R>(reads: readonly Read[], reply: z.ZodMiniType<R>): Promise<(R | undefined)[]>;
}

type Bound = `(${number}`;

const RUNS_A_TRIP = 50;

// https://upstash.com/docs/redis: without this line a script takes the database's global lock.
const KEY_LOCKING = "#!lua flags=allow-key-locking\n";

/** Makes the store over the Upstash REST protocol; each call is one trip, repeated only on NOSCRIPT. */
export function makeStore(options: StoreOptions): Store {
  const { url, token, timeoutMs = 1_500 } = options;
  const deadlines = makeDeadlines(timeoutMs);
  const redis = new Redis({
    url,
    token,
    automaticDeserialization: false,
    enableAutoPipelining: false,
    enableTelemetry: false,
    readYourWrites: false,
    responseEncoding: false,
    retry: { retries: 0 },
    // As a function: with a plain signal the SDK resolves an aborted call with null.
    signal: deadlines.signal,
  });
  const keyLocking = options.keyLocking ?? new URL(url).hostname.endsWith(".upstash.io");
  const texts = new Map<string, { source: string; sha: string }>();

  async function textOf(script: { name: string; source: string }) {
    const known = texts.get(script.name);
    if (known) return known;
    const source = keyLocking ? KEY_LOCKING + script.source : script.source;
    const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(source));
    const sha = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const text = { source, sha };
    texts.set(script.name, text);
    return text;
  }

  async function runTrip<K extends string, A extends string, R>(
    script: Script<K, A, R>,
    calls: readonly ScriptCall<K, A>[],
  ): Promise<(R | undefined)[]> {
    const { source, sha } = await textOf(script);
    const inputs = calls.map((call) => inputsOf(script, call));
    const send = (places: readonly number[], how: "evalsha" | "eval") => {
      const pipeline = redis.pipeline();
      for (const [keys, args] of places.flatMap((place) => [inputs[place] ?? [[], []]])) {
        if (how === "evalsha") pipeline.evalsha(sha, keys, args);
        else pipeline.eval(source, keys, args);
      }
      return sendAll(script, pipeline);
    };
    const outcomes = await send([...calls.keys()], "evalsha");
    const missing = outcomes.flatMap(({ error }, place) => (error?.startsWith("NOSCRIPT") ? [place] : []));
    if (missing.length > 0) {
      const again = await send(missing, "eval");
      for (const [at, place] of missing.entries()) outcomes[place] = again[at] ?? { result: undefined };
    }
    return outcomes.map(({ result }) => script.reply.safeParse(result).data);
  }

  /** Sends several commands in one trip; each has its own result or error, but for one that concerns the whole store. */
  async function sendAll(what: { name: string }, pipeline: ReturnType<Redis["pipeline"]>) {
    const outcomes = await trip(what, async () => {
      const outcomes = await deadlines.within(() => pipeline.exec<unknown[]>({ keepErrors: true }));
      for (const { error } of outcomes) if (isRefusal(error)) throw new Error(error);
      return outcomes;
    });
    if (outcomes.length !== pipeline.length()) throw new StoreFault(`${what.name} lacks replies`);
    if (outcomes.some(({ error, result }) => error === undefined && result === undefined)) {
      throw new StoreUnavailable(`${what.name}: no result in the answer`, "no_answer");
    }
    return outcomes;
  }

  async function reads<R>(reads: readonly Read[], reply: z.ZodMiniType<R>): Promise<(R | undefined)[]> {
    if (reads.length === 0) return [];
    const pipeline = redis.pipeline();
    for (const read of reads) {
      if ("get" in read) pipeline.get(read.get);
      else if ("texts" in read) pipeline.mget(...read.texts);
      else if ("count" in read) pipeline.zcount(read.count, read.min as Bound, read.max as Bound);
      else pipeline.zrange(read.members, read.min as Bound, read.max as Bound, { byScore: true });
    }
    const outcomes = await sendAll({ name: "reads" }, pipeline);
    return outcomes.map(({ result }) => reply.safeParse(result).data);
  }

  return {
    reads,

    async read(read, reply) {
      const [found] = await reads([read], reply);
      if (found === undefined) throw new StoreFault(`a record of another type or shape: ${keyOf(read)}`);
      return found;
    },

    async run(script, call) {
      const { source, sha } = await textOf(script);
      const [keys, args] = inputsOf(script, call);
      const raw = await trip(script, () =>
        deadlines
          .within(() => redis.evalsha(sha, keys, args))
          .catch((error: unknown) => {
            if (!storeMessage(error).startsWith("NOSCRIPT")) throw error;
            return deadlines.within(() => redis.eval(source, keys, args));
          }),
      );
      const reply = script.reply.safeParse(raw);
      if (!reply.success) throw new StoreFault(`script ${script.name} gave a reply of another shape`);
      return reply.data;
    },

    async runs(script, calls) {
      const replies = [];
      for (let first = 0; first < calls.length; first += RUNS_A_TRIP) {
        replies.push(...(await runTrip(script, calls.slice(first, first + RUNS_A_TRIP))));
      }
      return replies;
    },

    async info() {
      // The SDK has no INFO; a store that refuses it has nothing to tell.
      return trip({ name: "INFO" }, async () => {
        const answer = await fetch(url, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: '["INFO"]',
          signal: AbortSignal.timeout(timeoutMs),
        });
        const body = (await answer.json()) as { result?: unknown };
        return typeof body.result === "string" ? body.result : "";
      });
    },

    async time() {
      const [seconds, micros] = await trip({ name: "TIME" }, () => deadlines.within(() => redis.time()));
      const ms = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
      if (!Number.isSafeInteger(ms) || ms <= 0) throw new StoreFault("TIME gave a reply of another shape");
      return ms;
    },
  };
}

/** KEYS and ARGV of one run, in the order of the script. */
function inputsOf<K extends string, A extends string>(
  script: Script<K, A, unknown>,
  call: ScriptCall<K, A>,
): [keys: string[], args: (string | number)[]] {
  const keys = [...script.keys.map((key) => call.keys[key]), ...(call.restKeys ?? [])];
  return [keys, [...script.args.map((arg) => call.args[arg]), ...(call.rest ?? [])]];
}

/** True for an error of one run of many that says that the store is not to be had. */
const isRefusal = (error: string | undefined): error is string =>
  error !== undefined && !error.startsWith("NOSCRIPT") && !isScriptError(error);

function keyOf(read: Read): string {
  if ("get" in read) return read.get;
  if ("texts" in read) return read.texts.join(", ");
  return "count" in read ? read.count : read.members;
}

async function trip<R>(
  { name, keys = [] }: { name: string; keys?: readonly string[] },
  call: () => Promise<R>,
): Promise<R> {
  let raw: R;
  try {
    raw = await call();
  } catch (error) {
    const message = storeMessage(error);
    if (isScriptError(message)) {
      throw new StoreFault(`${name} met a record of another type among the records ${keys.join(", ")}`);
    }
    if (message.startsWith("CROSSSLOT")) throw new KeysApart(`${name} spans records that live apart`);
    const [kind, word] = kindOf(error, message);
    throw new StoreUnavailable(`${name}: ${word}`, kind);
  }
  if (raw === undefined) throw new StoreUnavailable(`${name}: no result in the answer`, "no_answer");
  return raw;
}

/** A kind, and a word for the log. The message itself stays out: it may quote what we sent. */
function kindOf(error: unknown, message: string): [kind: UnavailableKind, word: string] {
  const name = error instanceof Error ? error.name : "";
  if (name === "TimeoutError" || name === "AbortError") return ["timeout", "timed out"];
  const code = /^([A-Z]{3,20}) /.exec(message)?.[1];
  if (name === "UpstashError" || code) return ["refused", code ? `refused with ${code}` : "refused"];
  if (name === "UpstashJSONParseError") return ["no_answer", "the answer is no JSON"];
  return ["unreachable", "unreachable"];
}
