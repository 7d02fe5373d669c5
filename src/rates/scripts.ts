import * as z from "zod/mini";
import { defineScript } from "../redis/script.ts";
import bucketLua from "./bucket.lua";
import configurationLua from "./configuration.lua";
import gateLua from "./gate.lua";
import limitLua from "./limit.lua";

/** The Lua text of a script on buckets: what they share, then its own. */
export const onBuckets = (source: string): string => `${bucketLua}\n${limitLua}\n${source}`;

/** The Lua text of a script of another room that takes from a limit in the same step (rates/gate.lua). */
export const withGate = (source: string): string => onBuckets(`${gateLua}\n${source}`);

export const configuration = defineScript({
  name: "rates.configuration",
  source: configurationLua,
  keys: ["configuration", "pace"],
  args: [],
  reply: z.tuple([z.string(), z.string()]),
});
