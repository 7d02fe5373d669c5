import { orderOf, rankOf, type Task, taskText } from "../../../src/queues/task.ts";
import { makeKeys } from "../../../src/redis/keys.ts";
import type { RawRedis } from "./redis.ts";
import { PREFIX } from "./rooms.ts";

/** What every task of the bench carries, ours and others'. */
export const PAYLOAD = { url: "https://media.example.com/in/0123456789abcdef.mp4", preset: "h264-1080p" };

const BATCH = 1_000;
const AT_ONCE = 4;
const RANK = rankOf(0.8);

/** Puts `count` tasks straight into a queue, each with its record, as enqueueing them one by one would have. */
export async function fillQueue(
  redis: RawRedis,
  fleet: string,
  queue: string,
  count: number,
  tell: (text: string) => void,
): Promise<void> {
  const at = makeKeys(PREFIX).queue(fleet, queue);
  const payload = JSON.stringify(PAYLOAD);
  // Older than anything that is enqueued later, so that these are claimed first.
  const firstAt = Date.now() - count - 1_000;
  for (let from = 0; from < count; from += BATCH * AT_ONCE) {
    if (from > 0 && from % 200_000 === 0) tell(`${from.toLocaleString("en-US")} tasks are waiting`);
    const batches = Array.from({ length: AT_ONCE }, (_, place) => from + place * BATCH).flatMap((start) => {
      const tasks = Array.from({ length: Math.max(0, Math.min(BATCH, count - start)) }, (_, place) =>
        taskAt(start + place, firstAt),
      );
      if (tasks.length === 0) return [];
      const entries = tasks.flatMap((task) => [orderOf(task), taskText(task)]);
      const records = tasks.flatMap((task) => [at.record(task.id), `w ${taskText(task)}\n${payload}`]);
      return [redis.send("ZADD", at.ready, ...entries), redis.send("MSET", ...records)];
    });
    await Promise.all(batches);
  }
}

/** Bytes of Redis's memory that a waiting task takes: its place in the order, and its record. */
export async function bytesPerTask(redis: RawRedis, fleet: string, queue: string, count: number) {
  const at = makeKeys(PREFIX).queue(fleet, queue);
  const ready = await redis.send<number>("MEMORY", "USAGE", at.ready, "SAMPLES", 1_000);
  const record = await redis.send<number>("MEMORY", "USAGE", at.record(idOf(count - 1)));
  return { ready: ready / count, record };
}

const idOf = (number: number) => `fill${String(number).padStart(17, "0")}`;

function taskAt(number: number, firstAt: number): Task {
  const at = firstAt + number;
  return {
    turn: 0,
    id: idOf(number),
    class: "normal",
    priority: 0,
    enqueued_at: at,
    age_at: at,
    rank: RANK,
    hash: "0123456789abcdef",
    deliveries: 0,
    deferred: 0,
    failed: false,
  };
}
