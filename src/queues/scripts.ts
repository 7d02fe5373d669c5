import * as z from "zod/mini";
import { onMembers } from "../leases/bands.ts";
import { withGate } from "../rates/scripts.ts";
import { defineScript } from "../redis/script.ts";
import buryLua from "./bury.lua";
import cancelLua from "./cancel.lua";
import chooseLua from "./choose.lua";
import claimLua from "./claim.lua";
import completeLua from "./complete.lua";
import countsLua from "./counts.lua";
import dueLua from "./due.lua";
import endDeliveryLua from "./end-delivery.lua";
import enqueueLua from "./enqueue.lua";
import failLua from "./fail.lua";
import findLua from "./find.lua";
import getTaskLua from "./get-task.lua";
import handBackLua from "./hand-back.lua";
import listTasksLua from "./list-tasks.lua";
import loadLua from "./load.lua";
import purgeLua from "./purge.lua";
import redriveLua from "./redrive.lua";
import repeatedLua from "./repeated.lua";
import setConfigLua from "./set-config.lua";
import sweepLua from "./sweep.lua";
import taskLua from "./task.lua";

const int = z.int();
const texts = z.array(z.string());
const onTasks = (...sources: string[]) => onMembers([taskLua, ...sources].join("\n"));
const structures = ["members", "ready", "timers", "running", "dead"] as const;

export const setConfig = defineScript({
  name: "queues.set-config",
  source: setConfigLua,
  keys: ["config"],
  args: ["fleet", "text"],
  reply: z.union([z.literal(0), z.literal(1)]),
});

export const enqueue = defineScript({
  name: "queues.enqueue",
  source: onTasks(findLua, dueLua, repeatedLua, enqueueLua),
  keys: structures,
  restKeys: ["record", "failure"],
  args: ["now", "max_backlog", "max_deliveries"],
  rest: ["task", "payload", "place"],
  reply: z.array(z.tuple([z.enum(["added", "duplicate", "conflict", "full", "unknown"]), z.string()])),
});

export const claim = defineScript({
  name: "queues.claim",
  source: onTasks(dueLua, chooseLua, withGate(claimLua)),
  keys: [...structures, "request"],
  restKeys: ["bucket"],
  args: [
    "now",
    "open",
    "asked",
    "max",
    "holder",
    "queue",
    "lease_ttl_ms",
    "time_limit_ms",
    "max_deliveries",
    "mixed",
    "request_memory_ms",
    "limit",
  ],
  rest: ["class", "ratio"],
  reply: z.tuple(
    [z.enum(["claimed", "ended", "empty", "at_capacity", "paused", "limited"]), z.literal([0, 1])],
    z.union([z.string(), int]),
  ),
});

export const complete = defineScript({
  name: "queues.complete",
  source: onTasks(findLua, endDeliveryLua, completeLua),
  keys: ["members", "timers", "running", "record", "failure"],
  args: ["now", "lease", "id", "failed", "value", "result_ttl_ms"],
  reply: z.enum(["completed", "already", "stale"]),
});

export const fail = defineScript({
  name: "queues.fail",
  source: onTasks(endDeliveryLua, failLua),
  keys: ["members", "ready", "timers", "running", "dead", "failure"],
  args: ["now", "lease", "id", "state", "value", "member", "note"],
  reply: z.tuple([z.enum(["failed", "already", "stale"]), z.string()]),
});

export const bury = defineScript({
  name: "queues.bury",
  source: onTasks(findLua, endDeliveryLua, buryLua),
  keys: ["members", "timers", "running", "dead", "record"],
  args: ["now", "lease", "id", "member", "value"],
  reply: z.enum(["dead", "dropped", "kept"]),
});

export const handBack = defineScript({
  name: "queues.hand-back",
  source: onTasks(handBackLua),
  keys: ["members", "ready", "timers", "running"],
  args: ["now"],
  rest: ["lease"],
  reply: texts,
});

export const getTask = defineScript({
  name: "queues.get-task",
  source: onTasks(findLua, getTaskLua),
  keys: [...structures, "record", "failure"],
  args: ["now", "max_deliveries"],
  reply: z.tuple([z.string(), z.string(), int, z.string(), z.string(), z.string()]),
});

export const cancel = defineScript({
  name: "queues.cancel",
  source: onTasks(findLua, cancelLua),
  keys: [...structures, "record", "failure"],
  args: ["now", "max_deliveries", "result_ttl_ms"],
  reply: z.enum(["cancelled", "finished", "missing"]),
});

export const counts = defineScript({
  name: "queues.counts",
  source: onTasks(countsLua),
  keys: structures,
  args: ["now", "max_deliveries"],
  reply: z.tuple([int, int, int, int, int]),
});

export const sweep = defineScript({
  name: "queues.sweep",
  source: onTasks(dueLua, sweepLua),
  keys: structures,
  args: ["now", "max_deliveries", "limit"],
  reply: int,
});

export const load = defineScript({
  name: "queues.load",
  source: onTasks(endDeliveryLua, loadLua),
  keys: ["members", "ready", "running"],
  args: ["now", "span_ms", "queue"],
  reply: z.tuple([int, int]),
});

export const listTasks = defineScript({
  name: "queues.list-tasks",
  source: onTasks(listTasksLua),
  keys: ["ready", "timers", "dead"],
  args: ["state", "after", "limit"],
  reply: texts,
});

export const redrive = defineScript({
  name: "queues.redrive",
  source: onTasks(redriveLua),
  keys: ["ready", "dead"],
  args: ["limit"],
  rest: ["id"],
  reply: int,
});

export const purge = defineScript({
  name: "queues.purge",
  source: purgeLua,
  keys: ["from"],
  restKeys: ["record", "failure"],
  args: [],
  rest: ["member"],
  reply: int,
});
