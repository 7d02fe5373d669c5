import { policyBody } from "../../../src/leases/policy.ts";
import { makeBullRig } from "./bullmq.ts";
import { at, run } from "./load.ts";
import { versionOf } from "./machine.ts";
import { bytesPerTask, fillQueue } from "./queue-fill.ts";
import { type QueuePath, queueConfig, queueRoomsPath, queueWorkerPath } from "./queue-paths.ts";
import { makeRawStore } from "./raw-store.ts";
import { type RawRedis, redisCpuMicros, takeCommandCount } from "./redis.ts";
import { AT_ONCE, startWorkerRig, type WorkerRig } from "./rig.ts";
import { makeRooms, type Rooms } from "./rooms.ts";
import { show, type Table, whole } from "./table.ts";

const HOUR_MS = 3_600_000;
const PODS = 400;
const COUNTED = 50;

/** Measures queues at several backlogs, one task at a time and ten, beside BullMQ on the same Redis. */
export async function benchQueues(quick: boolean, tell: (text: string) => void): Promise<Table[]> {
  const rig = await startWorkerRig();
  try {
    const rooms = makeRooms(makeRawStore(rig.redis));
    const speed: Table = {
      title: "One task through a queue: enqueue, claim, complete",
      head: [
        "queue",
        "waiting",
        "tasks a second",
        "enqueue p50 ms",
        "claim p50",
        "complete p50",
        "p99 in all",
        "Redis µs a task",
      ],
      rows: [],
      notes: [
        `${AT_ONCE} tasks under way at once, each enqueued, then the oldest claimed and completed, so that as many wait ` +
          "at the end as at the start. BullMQ adds a job, then lets its worker finish the oldest; the handler does " +
          `nothing else (concurrency ${AT_ONCE}, default options, the same Redis client, the same Redis).`,
      ],
    };
    const cost: Table = {
      title: "Billed commands a task",
      head: ["queue", "waiting", "enqueue", "claim", "complete", "in all"],
      rows: [],
    };
    const space: Table = {
      title: "Memory that a waiting task takes in Redis",
      head: ["waiting", "bytes in the order", "bytes of record", "tasks in 100 MB of order"],
      rows: [],
    };
    for (const waiting of quick ? [10, 2_000] : [10, 10_000, 1_000_000]) {
      const name = `bench-${waiting}`;
      await prepare(rooms, name);
      tell(`filling a queue with ${whole(waiting)} tasks`);
      await fillQueue(rig.redis, name, name, waiting, tell);
      if (waiting > 10) space.rows.push(await spaceRow(rig.redis, name, waiting));
      const ways: [QueuePath, number][] = [
        [queueRoomsPath("ours, EVALSHA", rooms, name), quick ? 300 : 6_000],
        [queueWorkerPath(rig.worker, name), quick ? 100 : 1_500],
      ];
      for (const [path, turns] of ways) {
        cost.rows.push(...(await costRows(path, waiting, rig.redis)));
        speed.rows.push(...(await speedRows(path, waiting, turns, rig.redis)));
        tell(speed.rows.at(-1)?.join("  ") ?? "");
      }
      await benchBull(rig, waiting, quick ? 300 : 4_000, speed, cost);
      tell(speed.rows.at(-1)?.join("  ") ?? "");
      await rig.redis.send("FLUSHALL", "ASYNC");
    }
    return [speed, cost, space];
  } finally {
    await rig.stop();
  }
}

async function prepare({ fleets, queues }: Rooms, name: string): Promise<void> {
  await fleets.setPolicy(name, policyBody.parse({ ttl_ms: HOUR_MS }));
  const pods = Array.from({ length: PODS }, (_, number) => ({ pod: `worker-${number}` }));
  await fleets.heartbeats(name, { cluster: "c0", pods });
  await queues.configure(name, queueConfig(name));
}

async function speedRows(
  path: QueuePath,
  waiting: number,
  turns: number,
  redis: RawRedis,
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const tasks of [1, 10]) {
    const count = Math.ceil(turns / tasks);
    const times = {
      enqueue: [] as number[],
      claim: [] as number[],
      complete: [] as number[],
      all: [] as number[],
    };
    const timed = async <T>(kind: keyof typeof times, work: () => Promise<T>): Promise<T> => {
      const from = performance.now();
      const result = await work();
      times[kind].push(performance.now() - from);
      return result;
    };
    let completed = 0;
    const turn = () =>
      timed("all", async () => {
        await timed("enqueue", () => path.enqueue(tasks));
        const leases = await timed("claim", () => path.claim(tasks));
        for (const lease of leases) await timed("complete", () => path.complete(lease));
        completed += leases.length;
      });
    await run(Math.ceil(count / 10), AT_ONCE, turn);
    for (const list of Object.values(times)) list.length = 0;
    completed = 0;
    const cpuBefore = await redisCpuMicros(redis);
    const startedAt = performance.now();
    await run(count, AT_ONCE, turn);
    const perSecond = completed / ((performance.now() - startedAt) / 1_000);
    for (const list of Object.values(times)) list.sort((one, other) => one - other);
    const p50 = (list: number[]) => show(at(list, 0.5));
    rows.push([
      tasks === 1 ? path.name : `${path.name}, by tens`,
      whole(waiting),
      whole(perSecond),
      p50(times.enqueue),
      p50(times.claim),
      p50(times.complete),
      show(at(times.all, 0.99)),
      whole(((await redisCpuMicros(redis)) - cpuBefore) / completed),
    ]);
  }
  return rows;
}

/** Counts commands with nothing else under way: each kind of call alone, one after the other. */
async function costRows(path: QueuePath, waiting: number, redis: RawRedis): Promise<string[][]> {
  const rows: string[][] = [];
  for (const tasks of [1, 10]) {
    const calls = COUNTED / tasks;
    const leases: string[] = [];
    const count = async (work: () => Promise<unknown>) => {
      await takeCommandCount(redis);
      for (let call = 0; call < calls; call++) await work();
      return (await takeCommandCount(redis)).all / COUNTED;
    };
    // The first call of an isolate also asks for configuration.
    for (const lease of await path.claim(1)) await path.complete(lease);
    const enqueue = await count(() => path.enqueue(tasks));
    const claim = await count(async () => leases.push(...(await path.claim(tasks))));
    const complete = await count(async () => {
      for (const lease of leases.splice(0, tasks)) await path.complete(lease);
    });
    const cells = [enqueue, claim, complete, enqueue + claim + complete].map(show);
    rows.push([tasks === 1 ? path.name : `${path.name}, by tens`, whole(waiting), ...cells]);
  }
  return rows;
}

async function benchBull(rig: WorkerRig, waiting: number, turns: number, speed: Table, cost: Table) {
  const name = `bench-${waiting}`;
  const options = { name, waiting, real: turns * 2, concurrency: AT_ONCE };
  const bull = await makeBullRig(rig.url, rig.redis, options);
  const title = `BullMQ ${versionOf("bullmq")}`;
  if (!bull) {
    speed.rows.push([title, whole(waiting)]);
    return;
  }
  try {
    const adds: number[] = [];
    const all: number[] = [];
    const turn = async () => {
      const from = performance.now();
      await bull.add();
      adds.push(performance.now() - from);
      await bull.oneMore();
      all.push(performance.now() - from);
    };
    // Adding is counted alone before the worker runs.
    await takeCommandCount(rig.redis);
    for (let call = 0; call < COUNTED; call++) await bull.add();
    const added = (await takeCommandCount(rig.redis)).all / COUNTED;
    bull.start();
    for (let call = 0; call < COUNTED; call++) await bull.oneMore();
    await run(Math.ceil(turns / 10), AT_ONCE, turn);
    adds.length = 0;
    all.length = 0;
    await takeCommandCount(rig.redis);
    const cpuBefore = await redisCpuMicros(rig.redis);
    const startedAt = performance.now();
    await run(turns, AT_ONCE, turn);
    const seconds = (performance.now() - startedAt) / 1_000;
    const inAll = (await takeCommandCount(rig.redis)).all / turns;
    for (const list of [adds, all]) list.sort((one, other) => one - other);
    speed.rows.push([
      title,
      whole(waiting),
      whole(turns / seconds),
      show(at(adds, 0.5)),
      "",
      "",
      show(at(all, 0.99)),
      whole(((await redisCpuMicros(rig.redis)) - cpuBefore) / turns),
    ]);
    cost.rows.push([title, whole(waiting), show(added), "", "", show(inAll)]);
  } finally {
    await bull.close();
  }
}

async function spaceRow(redis: RawRedis, name: string, waiting: number): Promise<string[]> {
  const { ready, record } = await bytesPerTask(redis, name, name, waiting);
  return [whole(waiting), whole(ready), whole(record), whole(100e6 / ready)];
}
