import { gzipSync } from "node:zlib";
import { makeStore } from "../../../src/redis/store.ts";
import type { Bundle } from "../bundle.ts";
import { type BenchFleet, fillFleet } from "./gate-fleet.ts";
import { benchLarge } from "./gate-large.ts";
import { type GatePath, roomsPath, workerPath } from "./gate-paths.ts";
import { measure, run } from "./load.ts";
import { makeRawStore } from "./raw-store.ts";
import { type RawRedis, takeCommandCount } from "./redis.ts";
import { AT_ONCE, startWorkerRig } from "./rig.ts";
import { makeRooms } from "./rooms.ts";
import { show, type Table, whole } from "./table.ts";

const OPERATIONS = [
  ["heartbeat", "heartbeat"],
  ["acquire + release", "acquireAndRelease"],
  ["acquire, denied by the store", "denied"],
  ["acquire, denied from memory", "deniedFromMemory"],
] as const;
const SIZES = [10, 1_000, 100_000];
const LIMIT_BYTES = 100 * 1_024;
/** Each cell is measured for a time rather than a number of calls, since the ways differ by a factor of a hundred. */
const CELL_MS = 4_000;
const QUICK_CELL_MS = 400;
/** Calls go round so many pods, spread over the whole fleet. */
const PODS = 500;

/** Measures the gate at several fleet sizes on three ways, the reads of a large fleet, and the Worker's size. */
export async function benchGate(quick: boolean, tell: (text: string) => void): Promise<Table[]> {
  const rig = await startWorkerRig();
  try {
    const raw = makeRooms(makeRawStore(rig.redis));
    const rest = makeRooms(makeStore({ ...rig.rest, timeoutMs: 10_000 }));
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
    const sizes = quick ? SIZES.slice(0, -1) : SIZES;
    for (const size of sizes) {
      tell(`filling a fleet with ${whole(size)} live pods`);
      const fleet = await fillFleet(raw, rig.redis, size);
      const paths = [
        roomsPath("EVALSHA", raw, fleet),
        roomsPath("REST", rest, fleet),
        workerPath(rig.worker, fleet),
      ];
      for (const [title, operation] of OPERATIONS)
        for (const path of paths) {
          const forMs = quick ? QUICK_CELL_MS : CELL_MS;
          speeds.rows.push(await cell(title, operation, path, fleet, rig.redis, forMs));
          tell(speeds.rows.at(-1)?.join("  ") ?? "");
        }
      if (size === sizes.at(-1)) large = await benchLarge(raw, rig.worker, fleet);
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
  forMs: number,
): Promise<string[]> {
  const pods = Math.min(PODS, fleet.size);
  const operate = (turn: number) => path[operation]((turn % pods) * Math.floor(fleet.size / pods));
  // This isolate must have heard of each pod before, as one that has run for a while has.
  if (operation === "heartbeat") await run(pods, AT_ONCE, operate);
  const load = { forMs, atOnce: AT_ONCE, warmUpMs: forMs / 10 };
  const { count, perSecond, p50Ms, p99Ms } = await measure(load, operate, () => takeCommandCount(redis));
  const { all } = await takeCommandCount(redis);
  return [title, whole(fleet.size), path.name, whole(perSecond), show(p50Ms), show(p99Ms), show(all / count)];
}

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
