import type { Command } from "./rest-protocol.ts";

// All requests share one connection: these would change it, block it, or never answer.
const UNAVAILABLE = new Set(
  `AUTH HELLO RESET QUIT SELECT ASKING READONLY READWRITE
   MULTI EXEC DISCARD WATCH UNWATCH
   MONITOR SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE SYNC PSYNC REPLCONF
   BLPOP BRPOP BLMOVE BLMPOP BRPOPLPUSH BZPOPMIN BZPOPMAX BZMPOP WAIT WAITAOF`.split(/\s+/),
);
const UNAVAILABLE_CLIENT = new Set(["REPLY", "TRACKING", "CACHING", "SETNAME"]);

/** Says why a command cannot run on the shared connection; undefined when it can. */
export function whyUnavailable(command: Command): string | undefined {
  const name = String(command[0]).toUpperCase();
  const refusal = `ERR Command is not available: '${name}'`;
  if (UNAVAILABLE.has(name)) return refusal;
  if (name === "CLIENT" && UNAVAILABLE_CLIENT.has(String(command[1]).toUpperCase())) return refusal;
  const canBlock = name === "XREAD" || name === "XREADGROUP";
  if (canBlock && command.some((argument) => String(argument).toUpperCase() === "BLOCK")) return refusal;
  return undefined;
}
