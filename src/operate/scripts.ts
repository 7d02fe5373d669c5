import * as z from "zod/mini";
import { onMembers } from "../leases/bands.ts";
import { defineScript } from "../redis/script.ts";
import gaugeLua from "./gauge.lua";
import idleLua from "./idle.lua";
import keepLua from "./keep.lua";
import recallLua from "./recall.lua";
import sampleLua from "./sample.lua";
import traceLua from "./trace.lua";
import watchLua from "./watch.lua";

const texts = z.array(z.string());

export const sample = defineScript({
  name: "operate.sample",
  source: onMembers(sampleLua),
  keys: ["members", "history"],
  args: ["now", "ratio", "minute", "quarter", "reach_ms", "key_ttl_ms", "renew"],
  rest: ["denials"],
  reply: z.string(),
});

export const idle = defineScript({
  name: "operate.idle",
  source: onMembers(idleLua),
  keys: ["members", "pods"],
  args: ["now", "limit", "reach_ms"],
  reply: z.array(z.tuple([z.string(), z.int()])),
});

export const keep = defineScript({
  name: "operate.keep",
  source: keepLua,
  keys: ["history"],
  args: ["sample", "minute", "quarter", "key_ttl_ms", "renew"],
  reply: z.literal("OK"),
});

export const recall = defineScript({
  name: "operate.recall",
  source: recallLua,
  keys: ["history"],
  args: [],
  rest: ["place"],
  reply: texts,
});

export const watch = defineScript({
  name: "operate.watch",
  source: onMembers(watchLua),
  keys: ["members", "policy"],
  args: ["now", "since", "limit"],
  reply: z.tuple([z.int(), z.int(), z.string(), texts, texts, z.union([z.literal(0), z.literal(1)])]),
});

export const trace = defineScript({
  name: "operate.trace",
  source: onMembers(traceLua),
  keys: ["members"],
  args: [],
  rest: ["member"],
  reply: z.array(z.enum(["left", "lapsed"])),
});

export const gauge = defineScript({
  name: "operate.gauge",
  source: onMembers(gaugeLua),
  keys: ["members", "policy", "history"],
  args: ["now"],
  rest: ["total"],
  reply: z.tuple([z.int(), z.int(), z.int(), z.int(), z.string(), texts]),
});
