import * as scripts from "../../src/limits/scripts.ts";
import { limitText, type Rate, type Version } from "../../src/rates/rates.ts";
import type { World } from "./world.ts";

export interface Schedule {
  /** Takes of `cost` every `every_ms`, from `from` on for `for_ms`. */
  cost?: number;
  every_ms: number;
  from?: number;
  for_ms: number;
}

/** What a run of takes came to: when each was granted, and its delay. */
export interface Granted {
  at: number[];
  delays: number[];
}

/** A limit as the scripts see it, for tests that call them without HTTP. */
export function rateOf(...versions: Version[]): Rate {
  const last = versions[versions.length - 1] as Version;
  const { capacity, rate } = last;
  const rules = { capacity, on_error: "deny", shadow: false } as const;
  const limit =
    last.kind === "t"
      ? ({ algorithm: "token_bucket", refill_per_s: rate, ...rules } as const)
      : ({ algorithm: "leaky_bucket", leak_per_s: rate, ...rules } as const);
  return { name: "rapid", limit, versions, pace: { rate_per_s: 0, set_at: 0 } };
}

/**
 * Runs the very text of the take script over and over inside one EVAL, so that hours of simulated polling take a
 * second; the bucket is a real key of the world.
 */
export async function rapid(world: World, rate: Rate, schedule: Schedule): Promise<Granted> {
  const { cost = 1, every_ms, from = world.now, for_ms } = schedule;
  const source = `
    local function take(KEYS, ARGV) ${scripts.take.source} end
    local granted, now = {}, tonumber(ARGV[2])
    while now < tonumber(ARGV[3]) do
      local reply = take(KEYS, { string.format('%.0f', now), '0', ARGV[1] })
      if reply[1] == 1 then granted[#granted + 1] = string.format('%.0f %.0f', now, reply[2][1][3]) end
      now = now + tonumber(ARGV[4])
    end
    return granted`;
  const bucket = `${world.prefix}:{rapid}:bucket`;
  const keys = [2, bucket, `${world.prefix}:{rapid}:request:`];
  const args = [limitText(rate, cost), from, from + for_ms, every_ms];
  const granted = await world.redis<string[]>("EVAL", source, ...keys, ...args);
  const pairs = granted.map((text) => text.split(" ").map(Number) as [number, number]);
  return { at: pairs.map(([at]) => at - from), delays: pairs.map(([, delay]) => delay) };
}
