import { createHash } from "node:crypto";
import { type DayGround, podAt, type Way } from "./day.ts";

// The recipe as it stands in many posts: sorted sets of live pods and of leases, purged by each acquire, and a list of
// tasks that a refused pod puts its task back on.
const ACQUIRE = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[1])
local ratio = tonumber(redis.call('GET', KEYS[3]))
local live, busy = redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2])
if busy >= math.max(1, math.floor(live * ratio)) then return 0 end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[3])
return 1
`;
const SHA = createHash("sha1").update(ACQUIRE).digest("hex");
const PODS = "blog:pods";
const LEASES = "blog:leases";
const RATIO = "blog:ratio";
const TASKS = "blog:tasks";
const TTL_MS = 30_000;
const REFUSED_PAUSE_MS = 1_000;

/** Direct connections to Redis: two ZADD a beat, BLPOP, acquire, and LPUSH with a second's sleep when refused. */
export const blogWay: Way = {
  name: "the common recipe",
  async start({ load, time, redis, meter, tally, nextTaskMs }: DayGround) {
    const count = <R>(name: string, work: () => Promise<R>) => meter.count(() => name, work);
    await redis.send("SCRIPT", "LOAD", ACQUIRE);
    await redis.send("SET", RATIO, "0.8");
    await fillList(redis.send, TASKS, load.pods * 20);
    for (let number = 0; number < load.pods; number++) {
      const { cluster, pod } = podAt(load, number);
      const name = `${cluster}/${pod}`;
      let busy = false;
      time.spawn((number / load.pods) * load.beatMs, async () => {
        for (;;) {
          const expires = time.now() + TTL_MS;
          await count("beat: ZADD pod", () => redis.send("ZADD", PODS, expires, name));
          if (busy) await count("beat: ZADD lease", () => redis.send("ZADD", LEASES, expires, name));
          await time.sleep(load.beatMs);
        }
      });
      time.spawn((number / load.pods) * load.beatMs + 1, async () => {
        for (;;) {
          const [, task = ""] = await count("BLPOP", () => redis.send<string[]>("BLPOP", TASKS, 5));
          const granted = await meter.count(
            (reply: number) => (reply === 1 ? "acquire: granted" : "acquire: refused"),
            () =>
              redis.send<number>(
                "EVALSHA",
                SHA,
                3,
                PODS,
                LEASES,
                RATIO,
                time.now(),
                time.now() + TTL_MS,
                name,
              ),
          );
          if (granted !== 1) {
            await count("LPUSH back", () => redis.send("LPUSH", TASKS, task));
            await time.sleep(REFUSED_PAUSE_MS);
            continue;
          }
          busy = true;
          const ms = nextTaskMs();
          await time.sleep(ms);
          busy = false;
          tally.tasks++;
          tally.busyMs += ms;
          await count("release: ZREM", () => redis.send("ZREM", LEASES, name));
        }
      });
    }
  },
};

/** Fills a list with so many short texts. */
export async function fillList(send: DayGround["redis"]["send"], key: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const tasks = Array.from({ length: Math.min(1_000, count - from) }, (_, place) => `task-${from + place}`);
    await send("RPUSH", key, ...tasks);
  }
}
