import { createHash } from "node:crypto";
import { ErrorReply } from "@redis/client";
import * as z from "zod/mini";
import type { Read, Store } from "../../../src/redis/store.ts";
import type { RawRedis } from "./redis.ts";

/** The rooms' store straight on Redis, without HTTP: EVALSHA of the same texts, and the same plain reads. */
export function makeRawStore(redis: RawRedis): Store {
  const shas = new Map<string, string>();
  const shaOf = (source: string) => {
    const known = shas.get(source);
    if (known) return known;
    const sha = createHash("sha1").update(source).digest("hex");
    shas.set(source, sha);
    return sha;
  };

  const store: Store = {
    async run(script, call) {
      const keys = [...script.keys.map((key) => call.keys[key]), ...(call.restKeys ?? [])];
      const args = [...script.args.map((arg) => call.args[arg]), ...(call.rest ?? [])];
      const rest = [keys.length, ...keys, ...args];
      const raw = await redis.send("EVALSHA", shaOf(script.source), ...rest).catch((error: unknown) => {
        if (!(error instanceof ErrorReply && error.message.startsWith("NOSCRIPT"))) throw error;
        return redis.send("EVAL", script.source, ...rest);
      });
      return script.reply.parse(raw);
    },
    runs: (script, calls) => Promise.all(calls.map((call) => store.run(script, call))),
    info: () => redis.send<string>("INFO"),
    async time() {
      const [seconds, micros] = await redis.send<[string, string]>("TIME");
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
    read: async (read, reply) => reply.parse(await redis.send(...commandOf(read))),
    async reads(reads, reply) {
      const replies = await Promise.all(reads.map((read) => redis.send(...commandOf(read))));
      return z.array(reply).parse(replies);
    },
  };
  return store;
}

function commandOf(read: Read): string[] {
  if ("get" in read) return ["GET", read.get];
  if ("texts" in read) return ["MGET", ...read.texts];
  if ("count" in read) return ["ZCOUNT", read.count, read.min, read.max];
  return ["ZRANGE", read.members, read.min, read.max, "BYSCORE"];
}
