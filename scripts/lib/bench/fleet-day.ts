import { type DayGround, type DayLoad, FULL_DAY, makeRandom, type Way } from "./day.ts";
import { blogWay } from "./day-blog.ts";
import { ourWay } from "./day-ours.ts";
import { type Meter, makeMeter } from "./meter.ts";
import { MONTH_HOURS, upstashDollars, workersDollars } from "./prices.ts";
import { startRedisRig } from "./rig.ts";
import { makeSimTime } from "./sim-time.ts";
import { show, type Table, whole } from "./table.ts";

const QUICK_DAY: DayLoad = { ...FULL_DAY, pods: 60, warmUpMs: 30_000, measuredMs: 60_000 };
const SEED = 20_261_130;
const STEP_MS = 60_000;
const DECIMAL = 3_600_000;

const WAYS: Way[] = [
  blogWay,
  ourWay({ take: "slot", beats: "single" }),
  ourWay({ take: "slot", beats: "batched" }),
  ourWay({ take: "task", beats: "single" }),
  ourWay({ take: "task", beats: "batched" }),
];

/** What one way sent in the measured time. */
interface Spent {
  way: string;
  commandsPodHour: number;
  requestsPodHour: number;
  tasks: number;
  busyShare: number;
  parts: Awaited<ReturnType<Meter["read"]>>["parts"];
  commands: number;
}

/** Runs the same fleet in several ways on a real Redis and a simulated clock, and says what each costs. */
export async function benchFleetDay(quick: boolean, tell: (text: string) => void): Promise<Table[]> {
  const load = quick ? QUICK_DAY : FULL_DAY;
  const spent: Spent[] = [];
  for (const way of WAYS) {
    spent.push(await spend(way, load, tell));
    const { commandsPodHour, requestsPodHour } = spent.at(-1) as Spent;
    tell(`${way.name}: ${whole(commandsPodHour)} commands and ${whole(requestsPodHour)} requests a pod-hour`);
  }
  return [costTable(spent, load), partsTable(spent)];
}

async function spend(way: Way, load: DayLoad, tell: (text: string) => void): Promise<Spent> {
  const rig = await startRedisRig();
  try {
    const time = makeSimTime(Math.ceil(Date.now() / 1_000) * 1_000);
    const meter = makeMeter(rig.redis);
    const tally = { requests: 0, tasks: 0, busyMs: 0 };
    const random = makeRandom(SEED);
    const nextTaskMs = () => Math.round(-Math.log(1 - random()) * load.taskMs) + 1;
    const ground: DayGround = { load, time, redis: rig.redis, meter, nextTaskMs, tally };
    await way.start(ground);
    const startedAt = time.now();
    await runTo(startedAt + load.warmUpMs);
    await meter.reset();
    Object.assign(tally, { requests: 0, tasks: 0, busyMs: 0 });
    await runTo(startedAt + load.warmUpMs + load.measuredMs);
    const { commands, parts } = await meter.read();
    const podHours = (load.pods * load.measuredMs) / DECIMAL;
    return {
      way: way.name,
      commandsPodHour: commands / podHours,
      requestsPodHour: tally.requests / podHours,
      tasks: tally.tasks,
      busyShare: tally.busyMs / (load.pods * load.measuredMs),
      parts,
      commands,
    };

    async function runTo(end: number) {
      while (time.now() < end) {
        await time.runUntil(Math.min(end, time.now() + STEP_MS));
        tell(`${way.name}: ${Math.round((time.now() - startedAt) / 1_000)} s of the day`);
      }
    }
  } finally {
    await rig.stop();
  }
}

function costTable(spent: Spent[], load: DayLoad): Table {
  const [blog] = spent;
  const podHours = load.pods * MONTH_HOURS;
  const rows = spent.map((one) => {
    const isOurs = one !== blog;
    const upstash = upstashDollars(one.commandsPodHour * podHours);
    const workers = workersDollars(one.requestsPodHour * podHours);
    return [
      one.way,
      whole(one.commandsPodHour),
      isOurs && blog ? show(blog.commandsPodHour / one.commandsPodHour) : "",
      isOurs ? whole(one.requestsPodHour) : "",
      whole((one.commandsPodHour * load.pods) / 3_600),
      whole(one.tasks),
      whole(upstash),
      isOurs ? whole(workers) : "",
    ];
  });
  return {
    title: `A fleet of ${whole(load.pods)} pods, by the pod-hour and by the month`,
    head: [
      "way",
      "commands a pod-hour",
      "times fewer",
      "requests a pod-hour",
      "commands a second",
      "tasks done",
      "Upstash $ a month",
      "Workers $ a month",
    ],
    rows,
  };
}

function partsTable(spent: Spent[]): Table {
  const rows = spent.flatMap(({ way, parts, commands }) =>
    parts
      .slice(0, 6)
      .map((part, place) => [
        place === 0 ? way : "",
        part.name,
        whole(part.calls),
        `${show((part.commands / commands) * 100)} %`,
      ]),
  );
  return {
    title: "What the commands are for (shares from samples)",
    head: ["way", "for", "calls", "of the commands"],
    rows,
  };
}
