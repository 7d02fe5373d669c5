import bands from "./bands.lua";
import commands from "./commands.lua";

/** The Lua text of a script on a fleet's members: what they share, then its own. */
export const onMembers = (source: string): string => `${bands}\n${commands}\n${source}`;

/** The scores between which members of a band are live after `now`, as ZCOUNT takes them; see bands.lua. */
export function liveRange(band: "ready" | "lease", now: number): { min: string; max: string } {
  const base = band === "ready" ? 0 : 1e15;
  return { min: `(${base + now + 0.5}`, max: `(${base + 1e15}` };
}
