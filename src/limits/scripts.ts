import * as z from "zod/mini";
import { onBuckets } from "../rates/scripts.ts";
import { defineScript } from "../redis/script.ts";
import adaptLua from "./adapt.lua";
import noteAdaptingLua from "./note-adapting.lua";
import peekLua from "./peek.lua";
import removeLua from "./remove.lua";
import setLimitLua from "./set-limit.lua";
import settleLua from "./settle.lua";
import takeLua from "./take.lua";

const int = z.int().check(z.minimum(0));
const rate = z.pipe(z.pipe(z.string(), z.transform(Number)), z.number().check(z.positive()));
const flag = z.union([z.literal(0), z.literal(1)]);

export const take = defineScript({
  name: "limits.take",
  source: onBuckets(takeLua),
  keys: [],
  restKeys: ["bucket", "request"],
  args: ["now", "request_ttl_ms"],
  rest: ["limit"],
  reply: z.tuple([flag, z.array(z.tuple([z.enum(["taken", "kept", "refused"]), int, int, int, rate]))]),
});

export const settle = defineScript({
  name: "limits.settle",
  source: onBuckets(settleLua),
  keys: ["bucket", "request"],
  args: ["now", "limit", "request_ttl_ms"],
  reply: z.tuple([z.enum(["settled", "repeated", "unknown"]), int]),
});

export const peek = defineScript({
  name: "limits.peek",
  source: onBuckets(peekLua),
  keys: ["bucket"],
  args: ["now", "limit"],
  reply: z.tuple([int, int, int, rate]),
});

export const setLimit = defineScript({
  name: "limits.set-limit",
  source: setLimitLua,
  keys: ["configuration", "pace"],
  args: ["text"],
  reply: z.literal("OK"),
});

export const remove = defineScript({
  name: "limits.remove",
  source: removeLua,
  keys: ["configuration", "pace"],
  args: [],
  reply: flag,
});

export const adapt = defineScript({
  name: "limits.adapt",
  source: adaptLua,
  keys: ["pace"],
  args: ["now", "step_ms", "ttl_ms", "used", "set_rate", "min", "max", "target_wait_ms", "backlog", "drain"],
  reply: z.tuple([rate, int, z.int().check(z.minimum(-1))]),
});

export const noteAdapting = defineScript({
  name: "limits.note-adapting",
  source: noteAdaptingLua,
  keys: ["adapting"],
  args: ["now", "limit", "adapts"],
  reply: flag,
});
