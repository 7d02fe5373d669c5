import type * as z from "zod/mini";
import { compactLua } from "./lua.ts";

/** What one Lua script takes and gives: KEYS and ARGV by name, in order, and the shape of its reply. */
export interface Script<Key extends string, Arg extends string, Reply> {
  name: string;
  source: string;
  keys: readonly Key[];
  /** The names of one group of the repeated keys that follow `keys`, where the script takes any. */
  restKeys?: readonly string[];
  args: readonly Arg[];
  /** The names of one group of the repeated arguments that follow `args`, where the script takes any. */
  rest?: readonly string[];
  reply: z.ZodMiniType<Reply>;
}

/** Values for one run: every key and argument of the script by its name, and the repeated ones flat. */
export interface ScriptCall<Key extends string, Arg extends string> {
  keys: Readonly<Record<Key, string>>;
  restKeys?: readonly string[];
  args: Readonly<Record<Arg, string | number>>;
  rest?: readonly (string | number)[];
}

/** Declares a script, its text compacted as in the upload; a key or argument that is missing or misspelt in a call then does not compile. */
export function defineScript<const Key extends string, const Arg extends string, Reply>(
  script: Script<Key, Arg, Reply>,
): Script<Key, Arg, Reply> {
  return { ...script, source: compactLua(script.source) };
}
