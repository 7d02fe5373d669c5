import { createHash } from "node:crypto";
import type { Command, Reply } from "./rest-protocol.ts";

const FLAG = "allow-key-locking";
const REMEMBERED = 1_000;

/** Lets scripts with Upstash's `allow-key-locking` flag run on plain Redis, which refuses it. */
export interface ScriptTranslator {
  /** Takes the flag out of a script, and turns the SHA-1 of the original into that of the script sent. */
  command(command: Command): Command;
  /** Turns the SHA-1 that SCRIPT LOAD answers back into that of the original. */
  reply(command: Command, reply: Reply): Reply;
}

/** Makes a translator that remembers the last 1,000 scripts; a forgotten one is met with NOSCRIPT and sent again. */
export function createScriptTranslator(): ScriptTranslator {
  const sentByOriginal = new Map<string, string>();

  const remember = (original: string, sent: string) => {
    const key = sha1(original);
    sentByOriginal.delete(key);
    sentByOriginal.set(key, sha1(sent));
    const oldest = sentByOriginal.keys().next();
    if (sentByOriginal.size > REMEMBERED && !oldest.done) sentByOriginal.delete(oldest.value);
  };
  const script = (command: Command, at: number): Command => {
    const original = String(command[at] ?? "");
    const sent = withoutFlag(original);
    if (sent === original) return command;
    remember(original, sent);
    return command.with(at, sent);
  };
  const sha = (argument: Command[number]) => sentByOriginal.get(String(argument).toLowerCase()) ?? argument;

  return {
    command(command) {
      switch (kind(command)) {
        case "EVAL":
          return script(command, 1);
        case "EVALSHA":
          return command.map((argument, at) => (at === 1 ? sha(argument) : argument));
        case "LOAD":
          return script(command, 2);
        case "EXISTS":
          return command.map((argument, at) => (at >= 2 ? sha(argument) : argument));
        default:
          return command;
      }
    },
    reply(command, reply) {
      if (kind(command) !== "LOAD" || !Buffer.isBuffer(reply)) return reply;
      const original = String(command[2]);
      return withoutFlag(original) === original ? reply : Buffer.from(sha1(original));
    },
  };
}

function kind(command: Command): "EVAL" | "EVALSHA" | "LOAD" | "EXISTS" | undefined {
  const name = String(command[0]).toUpperCase();
  if (name === "EVAL" || name === "EVAL_RO") return "EVAL";
  if (name === "EVALSHA" || name === "EVALSHA_RO") return "EVALSHA";
  if (name !== "SCRIPT") return undefined;
  const subcommand = String(command[1]).toUpperCase();
  return subcommand === "LOAD" || subcommand === "EXISTS" ? subcommand : undefined;
}

/** Keeps the line break, so that errors name the same lines as on Upstash. */
function withoutFlag(script: string): string {
  const end = script.indexOf("\n");
  const first = end < 0 ? script : script.slice(0, end);
  if (!first.startsWith("#!lua") || !first.includes(FLAG)) return script;
  const kept = first.replace(/flags=(\S*)/, (_, flags: string) => {
    const others = flags.split(",").filter((flag) => flag !== FLAG);
    return others.length > 0 ? `flags=${others.join(",")}` : "";
  });
  return (kept.trim() === "#!lua" ? "" : kept) + (end < 0 ? "" : script.slice(end));
}

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
