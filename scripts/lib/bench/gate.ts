import { gzipSync } from "node:zlib";
import { makeStore } from "../../../src/redis/store.ts";
import type { Bundle } from "../bundle.ts";
import { type BenchFleet, fillFleet } from "./gate-fleet.ts";
import { type GatePath, roomsPath, workerPath } from "./gate-paths.ts";
import type { HttpCaller } from "./http.ts";
import { at, measure, run } from "./load.ts";
import { makeRawStore } from "./raw-store.ts";
import { type RawRedis, takeCommandCount } from "./redis.ts";
import { AT_ONCE, startWorkerRig } from "./rig.ts";
import { makeRooms, type Rooms } from "./rooms.ts";
import { show, type Table, whole } from "./table.ts";

const OPERATIONS = [
  ["heartbeat", "heartbeat"],
  ["acquire + release", "acquireAndRelease"],
  ["acquire, denied by the store", "denied"],
  ["acquire, denied from memory", "deniedFromMemory"],
] as const;
const LIMIT_BYTES = 100 * 1_024;
const LIMIT_MS = 200;

/** Measures the gate at several fleet sizes on three ways, the reads of a large fleet, and the Worker's size. */
export async function benchGate(quick: boolean, tell: (text: string) => void): Promise<Table[]> {
  const rig = await startWorkerRig();
  try {
    const raw = makeRooms(makeRawStore(rig.redis));
    const rest = makeRooms(makeStore({ ...rig.rest, timeoutMs: 10_000 }));
    const scale = quick ? 0.05 : 1;
    const speeds: Table = {
      title: "The gate, by live pods and by the way to the script",
      head: ["operation", "live pods", "way", "a second", "p50 ms", "p99 ms", "commands"],
      rows: [],
      notes: [
        `${AT_ONCE} calls under way at once; commands are those billed for one operation. "EVALSHA" is a plain Redis ` +
          "connection, which sends calls of one turn together; all ways run the same scripts with the same arguments.",
      ],
    };
    let large: Table | undefined;
    for (const size of quick ? [10, 1_000] : [10, 1_000, 100_000]) {
      tell(`filling a fleet with ${whole(size)} live pods`);
      const fleet = await fillFleet(raw, rig.redis, size);
      const paths = [
        roomsPath("EVALSHA", 30_000 * scale, raw, fleet),
        roomsPath("REST", 6_000 * scale, rest, fleet),
        workerPath(4_000 * scale, rig.worker, fleet),
      ];
      for (const [title, operation] of OPERATIONS)
        for (const path of paths) {
          speeds.rows.push(await cell(title, operation, path, fleet, rig.redis));
          tell(speeds.rows.at(-1)?.join("  ") ?? "");
        }
      if (size === (quick ? 1_000 : 100_000)) large = await benchLarge(raw, rig.worker, fleet);
    }
    return [speeds, ...(large ? [large] : []), sizeOf(rig.bundle)];
  } finally {
    await rig.stop();
  }
}

async function cell(
  title: string,
  operation: (typeof OPERATIONS)[number][1],
  path: GatePath,
  fleet: BenchFleet,
  redis: RawRedis,
): Promise<string[]> {
  // Pods in an order that no cache could follow, the same for every way.
  const operate = (turn: number) => path[operation]((turn * 7_919) % fleet.size);
  // This isolate must have heard of each pod before, as one that has run for a while has.
  if (operation === "heartbeat") await run(Math.min(fleet.size, path.count), AT_ONCE, operate);
  const load = { count: path.count, atOnce: AT_ONCE, warmUp: path.count / 10 };
  const speed = await measure(load, operate, () => takeCommandCount(redis));
  const { all } = await takeCommandCount(redis);
  const { perSecond, p50Ms, p99Ms } = speed;
  return [
    title,
    whole(fleet.size),
    path.name,
    whole(perSecond),
    show(p50Ms),
    show(p99Ms),
    show(all / path.count),
  ];
}

/** The calls that read a whole fleet, one after the other through the Worker. */
async function benchLarge({ fleets }: Rooms, { call }: HttpCaller, fleet: BenchFleet): Promise<Table> {
  const base = `/v1/fleets/${fleet.name}`;
  const rows: string[][] = [];
  async function time(name: string, times: number, operate: (turn: number) => Promise<unknown>, pauseMs = 0) {
    const took: number[] = [];
    for (let turn = 0; turn < times; turn++) {
      const sentAt = performance.now();
      await operate(turn);
      took.push(performance.now() - sentAt);
      if (pauseMs) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    took.sort((one, other) => one - other);
    const slowest = took.at(-1) ?? 0;
    rows.push([name, show(at(took, 0.5)), show(slowest), slowest <= LIMIT_MS ? "yes" : "NO"]);
  }
  const leases: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const body = { ...fleet.pod(turn), class: "high", wait_ms: 0, attempt: 0 };
    const answer = await fleets.acquire(fleet.name, body, new AbortController().signal);
    if (answer.granted) leases.push(answer.lease.id);
  }
  // A status of a large fleet is remembered for a second, so each is asked after that.
  await time("status", 8, () => call("GET", base), 1_100);
  await time("pods, a page of 100", 10, (turn) =>
    call("GET", `${base}/pods?limit=100&cursor=${cursor(turn)}`),
  );
  await time("release", 20, (turn) => call("POST", `${base}/release`, { leases: [leases[turn]] }));
  await time("leave", 10, (turn) => call("POST", `${base}/leave`, fleet.pod(turn)));
  return {
    title: `Calls on a fleet of ${whole(fleet.size)} live pods and half as many leases, through the Worker`,
    head: ["call", "p50 ms", "slowest ms", `within ${LIMIT_MS} ms`],
    rows,
  };
}

const cursor = (turn: number) => btoa(`c${turn % 4}/worker-${turn * 1_000}`);

function sizeOf({ modules }: Bundle): Table {
  const code = modules.filter(({ type }) => type !== "sourcemap").map(({ contents }) => contents);
  const bytes = code.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const gzipped = gzipSync(code.join("\n"), { level: 9 }).length;
  const limit = `within ${LIMIT_BYTES / 1_024} KiB`;
  return {
    title: "What is uploaded to Cloudflare",
    head: ["the Worker", "KiB", "KiB gzipped", limit],
    rows: [
      ["all modules", show(bytes / 1_024), show(gzipped / 1_024), gzipped <= LIMIT_BYTES ? "yes" : "NO"],
    ],
  };
}
