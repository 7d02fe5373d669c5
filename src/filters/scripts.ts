import * as z from "zod/mini";
import { defineScript } from "../redis/script.ts";
import addLua from "./add.lua";
import checkLua from "./check.lua";
import configurationLua from "./configuration.lua";
import probesLua from "./probes.lua";
import setFilterLua from "./set-filter.lua";

const flag = z.union([z.literal(0), z.literal(1)]);
const onProbes = (source: string) => `${probesLua}\n${source}`;

export const add = defineScript({
  name: "filters.add",
  source: onProbes(addLua),
  keys: ["configuration"],
  restKeys: ["shard"],
  args: ["version"],
  rest: ["probe"],
  reply: z.int().check(z.minimum(-1)),
});

export const check = defineScript({
  name: "filters.check",
  source: onProbes(checkLua),
  keys: ["configuration"],
  restKeys: ["shard"],
  args: ["version", "item_count"],
  rest: ["probe"],
  reply: z.tuple([flag, z.array(flag)]),
});

export const configuration = defineScript({
  name: "filters.configuration",
  source: configurationLua,
  keys: ["configuration"],
  args: [],
  reply: z.string(),
});

export const setFilter = defineScript({
  name: "filters.set-filter",
  source: setFilterLua,
  keys: ["configuration"],
  restKeys: ["shard"],
  args: ["before", "text"],
  reply: flag,
});
