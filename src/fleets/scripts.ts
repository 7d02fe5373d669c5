import * as z from "zod/mini";
import { onMembers } from "../leases/bands.ts";
import { withGate } from "../rates/scripts.ts";
import { defineScript } from "../redis/script.ts";
import acquireLua from "./acquire.lua";
import beatsLua from "./beats.lua";
import heartbeatLua from "./heartbeat.lua";
import leaveLua from "./leave.lua";
import podsLua from "./pods.lua";
import purgeLua from "./purge.lua";
import recordLua from "./record.lua";
import releaseLua from "./release.lua";
import statusLua from "./status.lua";

const int = z.int();
const flag = z.union([z.literal(0), z.literal(1)]);
const texts = z.array(z.string());
const onPods = (source: string) => onMembers(`${recordLua}\n${source}`);

export const heartbeat = defineScript({
  name: "fleets.heartbeat",
  source: onPods(`${beatsLua}\n${heartbeatLua}`),
  keys: ["members", "pods"],
  args: ["now", "expires_at", "pod_count"],
  rest: [
    ...["field", "kind", "instance", "slots", "memory", "labels"],
    ...["owner", "lease", "lease_expires_at"],
  ],
  reply: z.tuple([z.array(int), z.array(int), z.array(int), int, int]),
});

export const acquire = defineScript({
  name: "fleets.acquire",
  source: onMembers(withGate(acquireLua)),
  keys: ["members"],
  restKeys: ["bucket"],
  args: ["now", "ratio", "open", "asked", "lease", "ttl_ms", "request", "limit"],
  reply: z.tuple([z.enum(["granted", "ended", "denied", "paused", "limited"]), z.string(), int, int, int]),
});

export const release = defineScript({
  name: "fleets.release",
  source: onMembers(releaseLua),
  keys: ["members"],
  args: ["now"],
  rest: ["lease"],
  reply: z.array(flag),
});

export const leave = defineScript({
  name: "fleets.leave",
  source: onPods(leaveLua),
  keys: ["members", "pods"],
  args: ["now", "field", "instance"],
  reply: z.tuple([flag, texts, texts]),
});

export const status = defineScript({
  name: "fleets.status",
  source: onMembers(statusLua),
  keys: ["members"],
  args: ["now"],
  reply: z.tuple([
    int,
    int,
    int,
    int,
    z.array(z.tuple([z.string(), int, int])),
    z.array(z.tuple([z.string(), int])),
  ]),
});

const deadlines = z.array(z.union([z.string(), int]));

export const pods = defineScript({
  name: "fleets.pods",
  source: onMembers(podsLua),
  keys: ["members", "pods"],
  args: ["now", "after", "limit"],
  reply: z.tuple([z.array(z.tuple([z.string(), z.string(), deadlines, deadlines])), flag]),
});

export const purge = defineScript({
  name: "fleets.purge",
  source: onPods(purgeLua),
  keys: ["members", "pods"],
  args: ["now", "limit", "lease_memory_ms", "pod_memory_ms", "key_ttl_ms"],
  reply: flag,
});
