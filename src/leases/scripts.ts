import * as z from "zod/mini";
import { defineScript } from "../redis/script.ts";
import configurationLua from "./configuration.lua";
import drainLua from "./drain.lua";
import registerLua from "./register.lua";
import setPolicyLua from "./set-policy.lua";
import tallyLua from "./tally.lua";

export const configuration = defineScript({
  name: "leases.configuration",
  source: configurationLua,
  keys: ["policy", "drain"],
  args: ["now"],
  reply: z.tuple([z.string(), z.array(z.string())]),
});

export const setPolicy = defineScript({
  name: "leases.set-policy",
  source: setPolicyLua,
  keys: ["policy"],
  args: ["text"],
  reply: z.literal("OK"),
});

export const drain = defineScript({
  name: "leases.drain",
  source: drainLua,
  keys: ["drain"],
  args: ["now", "entry", "expires_at", "limit"],
  reply: z.tuple([z.union([z.literal(0), z.literal(1)]), z.array(z.string())]),
});

export const register = defineScript({
  name: "leases.register",
  source: registerLua,
  keys: ["names"],
  args: ["now", "silence_ms", "name"],
  reply: z.literal("OK"),
});

export const tally = defineScript({
  name: "leases.tally",
  source: tallyLua,
  keys: ["totals"],
  args: ["key_ttl_ms"],
  rest: ["field", "by"],
  reply: z.literal("OK"),
});
