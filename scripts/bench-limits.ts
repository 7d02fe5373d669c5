import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Limiter, limitersOf, type TakeOne } from "./lib/limiters.ts";
import { type Cost, meterRedis } from "./lib/redis-meter.ts";
import { startStack } from "./lib/stack.ts";
import { startPrivateStore } from "./lib/stack-store.ts";

const TAKES = 2_000;
const KEYS = 50;
const AT_ONCE = 16;

/** One line of the comparison: what a take costs that is allowed, and one that is refused. */
export interface LimitsRow {
  name: string;
  way: string;
  allowed: Cost;
  refused: Cost;
}

/** Runs every limiter over one private Redis, one after the other: 2,000 takes of 50 keys, 16 at once. */
export async function benchLimits(): Promise<LimitsRow[]> {
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-bench-"));
  const store = await startPrivateStore({ dir });
  const { redis, rest, url, token } = store;
  if (!redis) throw new Error("the bench needs a Redis of its own");
  try {
    const env = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token };
    const stack = await startStack({ dir: join(dir, "stack"), port: 0, env });
    const meter = await meterRedis(redis.url);
    try {
      const rows: LimitsRow[] = [];
      for (const limiter of limitersOf({ ...stack, redis, rest }, token)) {
        rows.push(await row(limiter, meter.measure));
      }
      return rows;
    } finally {
      await meter.close();
      await stack.stop();
    }
  } finally {
    await store.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function row(
  { name, way, open }: Limiter,
  measure: (work: () => Promise<void>) => Promise<Cost>,
): Promise<LimitsRow> {
  const roomy = await open(1_000_000);
  await run(roomy.take, AT_ONCE, true);
  const allowed = await measure(() => run(roomy.take, TAKES, true));
  await roomy.close();
  const tight = await open(1);
  for (let key = 0; key < KEYS; key++) await tight.take(`key-${key}`);
  const refused = await measure(() => run(tight.take, TAKES, false));
  await tight.close();
  return { name, way, allowed, refused };
}

/** Makes `count` takes, 16 at once; throws when one is not answered as expected. */
async function run(take: TakeOne, count: number, expected: boolean): Promise<void> {
  let next = 0;
  const loop = async () => {
    while (next < count) {
      const got = await take(`key-${next++ % KEYS}`);
      if (got !== expected) throw new Error(`a take was ${got ? "allowed" : "refused"}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
}

/** The comparison as a table in Markdown. */
export function limitsTable(rows: readonly LimitsRow[]): string {
  const each = (cost: Cost) => [
    (cost.commands / TAKES).toFixed(2),
    (cost.cpuMicros / TAKES).toFixed(0),
    (cost.executionMicros / TAKES).toFixed(0),
    ((TAKES * 1_000) / cost.wallMs).toFixed(0),
  ];
  const lines = rows.map(({ name, way, allowed, refused }) =>
    ["", name, way, ...each(allowed), ...each(refused), ""].join(" | ").trim(),
  );
  const titles = ["billed commands", "Redis CPU µs", "of it executing", "takes/s"];
  return [
    [
      "",
      "limiter",
      "way",
      ...titles.map((title) => `${title}, allowed`),
      ...titles.map((title) => `${title}, refused`),
      "",
    ]
      .join(" | ")
      .trim(),
    `|---|---|${"---:|".repeat(8)}`,
    ...lines,
  ].join("\n");
}

if (import.meta.main) console.log(limitsTable(await benchLimits()));
