import type { World } from "./world.ts";

const COPY = "for at = 1, #KEYS, 2 do redis.call('COPY', KEYS[at], KEYS[at + 1], 'REPLACE') end";
const READ = `
local ask = { zset = { 'ZRANGE', 0, -1, 'WITHSCORES' }, hash = { 'HGETALL' }, list = { 'LRANGE', 0, -1 },
              string = { 'GET' } }
local all = {}
for at, key in ipairs(KEYS) do
  local how = ask[redis.call('TYPE', key).ok]
  local content = redis.call(how[1], key, unpack(how, 2))
  all[at] = { key, content }
end
return all`;

async function keysOf(world: World, fleet: string): Promise<string[]> {
  return (await world.redis<string[]>("KEYS", `${world.prefix}:{fleet:${fleet}}:*`)).sort();
}

/** Sets the keys of a fleet and its queues aside; gives what puts them back as they were. */
export async function keep(world: World, fleet = "render"): Promise<() => Promise<void>> {
  const keys = await keysOf(world, fleet);
  const aside = keys.map((key) => `kept:${crypto.randomUUID().slice(0, 4)}:${key}`);
  const copy = (from: string[], to: string[]) =>
    world.redis("EVAL", COPY, from.length * 2, ...from.flatMap((key, at) => [key, to[at] ?? ""]));
  await copy(keys, aside);
  return async () => {
    const now = await keysOf(world, fleet);
    if (now.length > 0) await world.redis("DEL", ...now);
    await copy(aside, keys);
  };
}

/** All that lies under a fleet and its queues, but for what is no fact: the order in a hash, and the least time that a
 * delivery's timer shows. */
export async function contents(world: World, fleet = "render"): Promise<string> {
  const keys = await keysOf(world, fleet);
  const all = await world.redis<[string, string | string[]][]>("EVAL", READ, keys.length, ...keys);
  const facts = all.map(([key, content]) => [
    key,
    key.endsWith(":running") ? [content].flat().sort() : content,
  ]);
  return JSON.stringify(facts).replaceAll(/("f\/[^"]*)","\d+"/g, '$1"');
}
