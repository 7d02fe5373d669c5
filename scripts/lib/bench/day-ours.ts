import { createHash } from "node:crypto";
import { createApp } from "../../../src/app.ts";
import { lengthen } from "../../../src/client/backoff.ts";
import type { AcquireAnswer, HeartbeatsCall } from "../../../src/fleets/schema.ts";
import { makeKeyAuth } from "../../../src/http/auth.ts";
import type { ClaimAnswer } from "../../../src/queues/schema.ts";
import type { Clock } from "../../../src/redis/clock.ts";
import { makeKeys } from "../../../src/redis/keys.ts";
import { type DayGround, podAt, type Way } from "./day.ts";
import { fillList } from "./day-blog.ts";
import { meteredStore } from "./meter.ts";
import { fillQueue } from "./queue-fill.ts";
import { makeRawStore } from "./raw-store.ts";
import { PREFIX } from "./rooms.ts";

/** How our pods spend the day: what they take, and who sends their beats. */
export interface OurWay {
  /** A bare slot, with the task from a plain list once granted; or a task with its slot from a queue. */
  take: "slot" | "task";
  beats: "single" | "batched";
}

type Call = <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>;
interface Pod {
  cluster: string;
  pod: string;
  leases: string[];
}

const FLEET = "day";
const TASKS = "day:tasks";
const WAIT_MS = 25_000;
const CRON_MS = 300_000;
const KEY = "bench";

/** One isolate of the whole app on a simulated clock, its store straight on Redis. */
export function ourWay({ take, beats }: OurWay): Way {
  const what = take === "slot" ? "slots" : "tasks with their slots";
  return {
    name: `${what}, ${beats === "single" ? "a beat each" : "beats batched"}`,
    async start(ground) {
      const { load, time, redis } = ground;
      const { call, scheduled } = await startApp(ground);
      const pods = Array.from({ length: load.pods }, (_, number) => ({
        ...podAt(load, number),
        leases: [] as string[],
      }));
      if (take === "task") {
        await call("PUT", `/v1/queues/${FLEET}`, { fleet: FLEET });
        await fillQueue(redis, FLEET, FLEET, load.pods * 20, () => {});
      } else await fillList(redis.send, TASKS, load.pods * 20);
      time.spawn(CRON_MS, async () => {
        for (;;) {
          await scheduled();
          await time.sleep(CRON_MS);
        }
      });
      if (beats === "single")
        for (const [number, pod] of pods.entries()) beatAlone(ground, call, pod, number);
      else
        for (const batch of Map.groupBy(pods, ({ cluster }) => cluster).values())
          beatTogether(ground, call, batch);
      const work = take === "slot" ? workOnSlots : workOnTasks;
      for (const [number, pod] of pods.entries())
        time.spawn((number / load.pods) * load.beatMs + 1, () => work(ground, call, pod));
    },
  };
}

async function startApp({ time, redis, meter, tally }: DayGround) {
  const store = meteredStore(makeRawStore(redis), meter);
  const clock: Clock = { now: async () => time.now(), local: time.now, sleep: time.sleep };
  const sha256 = createHash("sha256").update(KEY).digest("hex");
  const app = createApp({
    store,
    keys: makeKeys(PREFIX),
    clock,
    defer: (work) => void work.catch(() => {}),
    auth: makeKeyAuth([{ id: "bench", sha256, scopes: ["admin"] }]),
    log: () => {},
  });
  const call: Call = async <Answer>(method: string, path: string, body?: unknown) => {
    tally.requests++;
    const init = { method, headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" } };
    const answer = await app.request(
      path,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  return { call, scheduled: app.scheduled };
}

function beatAlone({ load, time }: DayGround, call: Call, pod: Pod, number: number): void {
  time.spawn((number / load.pods) * load.beatMs, async () => {
    for (;;) {
      await call("POST", `/v1/fleets/${FLEET}/heartbeat`, pod);
      await time.sleep(load.beatMs);
    }
  });
}

/** One process a cluster, such as a DaemonSet's or an operator's, beats for all its pods. */
function beatTogether({ load, time }: DayGround, call: Call, pods: Pod[]): void {
  time.spawn(0, async () => {
    for (;;) {
      const body: HeartbeatsCall = {
        cluster: pods[0]?.cluster ?? "",
        pods: pods.map(({ pod, leases }) => ({ pod, leases })),
      };
      await call("POST", `/v1/fleets/${FLEET}/heartbeats`, body);
      await time.sleep(load.beatMs);
    }
  });
}

/** Asks as the client's keeper does: the server waits first, and after its no the hint is kept, lengthened by jitter. */
async function workOnSlots(ground: DayGround, call: Call, pod: Pod): Promise<void> {
  const { time, redis, meter } = ground;
  const { cluster, pod: name } = pod;
  for (let number = 0; ; number++) {
    const request_id = `r${number}`;
    for (let attempt = 0; ; attempt++) {
      const body = { cluster, pod: name, request_id, attempt, wait_ms: WAIT_MS };
      const answer = await call<AcquireAnswer>("POST", `/v1/fleets/${FLEET}/acquire`, body);
      if (!answer.granted) {
        await time.sleep(lengthen(answer.retry_after_ms));
        continue;
      }
      await meter.count(
        () => "LPOP of the task",
        () => redis.send("LPOP", TASKS),
      );
      await hold(ground, pod, answer.lease.id);
      await call("POST", `/v1/fleets/${FLEET}/release`, { leases: [answer.lease.id] });
      break;
    }
  }
}

/** Claims as the client's worker does: one request id until there is a task, and no longer hint after each no. */
async function workOnTasks(ground: DayGround, call: Call, pod: Pod): Promise<void> {
  const { time } = ground;
  const { cluster, pod: name } = pod;
  for (let number = 0; ; ) {
    const body = { cluster, pod: name, request_id: `r${number}`, wait_ms: WAIT_MS };
    const { tasks, retry_after_ms = 0 } = await call<ClaimAnswer>("POST", `/v1/queues/${FLEET}/claim`, body);
    const [task] = tasks;
    if (!task) {
      await time.sleep(lengthen(retry_after_ms));
      continue;
    }
    number++;
    await hold(ground, pod, task.lease.id);
    await call("POST", `/v1/queues/${FLEET}/complete`, { lease: task.lease.id });
  }
}

/** Works for as long as the next task takes; the pod's beats renew the lease meanwhile. */
async function hold({ time, tally, nextTaskMs }: DayGround, pod: Pod, lease: string): Promise<void> {
  const ms = nextTaskMs();
  pod.leases.push(lease);
  await time.sleep(ms);
  pod.leases = pod.leases.filter((one) => one !== lease);
  tally.tasks++;
  tally.busyMs += ms;
}
