// Takes the pictures of docs/images: three fleets live through a minute and a half, and the dashboard looks on.
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startChromium } from "./lib/chromium.ts";
import { keyRecord, newKey } from "./lib/keys.ts";
import { sceneOf } from "./lib/scene.ts";
import { startStack } from "./lib/stack.ts";

const FOLDER = fileURLToPath(new URL("../docs/images", import.meta.url));
const LARGEST_BYTES = 80_000;
const SECONDS = 90;
const CLUSTERS = { "aws-use1": 12, "gcp-euw4": 8, onprem: 4 };
type Cluster = keyof typeof CLUSTERS;

type Scene = ReturnType<typeof sceneOf>;
interface Shown {
  fleet: string;
  /** Slots that normal work wants to hold at a second. */
  wanted(second: number): number;
  /** Slots that urgent work takes, and when. */
  urgent: { slots: number; at: number };
  /** The second at which a cluster goes, without its slots being given back. */
  loses?: number;
}

const SHOWN: Record<string, Shown> = {
  empty: { fleet: "spare", wanted: () => 0, urgent: { slots: 0, at: 0 } },
  busy: {
    fleet: "render",
    wanted: (second) => Math.min(19, Math.round(15 + 5 * Math.sin((second - 52) / 16))),
    urgent: { slots: 2, at: 72 },
  },
  over: {
    fleet: "transcode",
    wanted: (second) => Math.min(19, 8 + Math.round(second / 5)),
    urgent: { slots: 2, at: 60 },
    loses: 75,
  },
};

/** Beats and holds what is wanted, once a second. */
async function live(scene: Scene, { fleet, wanted, urgent, loses = Number.POSITIVE_INFINITY }: Shown) {
  await scene.put(`/v1/fleets/${fleet}/policy`, { ttl_ms: 5_000, lease_ttl_ms: 300_000 });
  const clusters = Object.entries(CLUSTERS) as [Cluster, number][];
  const pods = clusters.flatMap(([cluster, count]) =>
    Array.from({ length: count }, (_, at) => ({ cluster, at })),
  );
  const held: string[] = [];
  const started = performance.now();
  let isUrgent = true;
  for (let second = 0; second < SECONDS; second = (performance.now() - started) / 1_000) {
    const present = clusters.filter(([cluster]) => cluster !== "gcp-euw4" || second < loses);
    for (const [cluster, count] of present) await scene.beat(fleet, cluster, count);
    for (let at = held.length; second < loses && at < wanted(second); at++) {
      const { cluster, at: pod } = pods[(at * 7) % pods.length] ?? { cluster: "onprem", at: 0 };
      held.push(...(await scene.acquire(fleet, cluster, 1, { pod: `worker-${pod}` })));
      if (held.length <= at) break;
    }
    const extra = held.splice(second < loses ? wanted(second) : held.length);
    if (extra.length > 0) await scene.post(`/v1/fleets/${fleet}/release`, { leases: extra });
    if (isUrgent && second > urgent.at) {
      isUrgent = false;
      await scene.acquire(fleet, "aws-use1", urgent.slots, { class: "high" });
    }
    await delay(1_000);
  }
}

async function main() {
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-pictures-"));
  const views = Object.entries(SHOWN).map(([name, shown]) => ({ name, shown, key: newKey() }));
  const keys = views.map(({ name, shown, key }) =>
    keyRecord(key, { id: name, scopes: ["read"], fleets: [shown.fleet] }),
  );
  const stack = await startStack({ dir, port: 0, keys });
  const browser = await startChromium();
  try {
    const scene = sceneOf(stack);
    const pages = views.map(async ({ name, shown, key }) => {
      const context = await browser.newContext({
        viewport: { width: 1200, height: 680 },
        colorScheme: "light",
      });
      await context.addInitScript((given) => sessionStorage.setItem("fleetgate.key", given), key);
      const page = await context.newPage();
      await delay(3_000);
      await page.goto(`${stack.url}/#/${shown.fleet}/pods`);
      return { name, page };
    });
    const lives = Promise.all(views.map(({ shown }) => live(scene, shown)));
    await delay((SECONDS - 1) * 1_000);
    mkdirSync(FOLDER, { recursive: true });
    for (const { name, page } of await Promise.all(pages)) {
      const file = join(FOLDER, `dashboard-${name}.png`);
      await page.screenshot({ path: file });
      const { size } = statSync(file);
      console.log(`${file} ${size} bytes`);
      if (size > LARGEST_BYTES) throw new Error(`${file} is larger than ${LARGEST_BYTES} bytes`);
    }
    await lives;
  } finally {
    await browser.close();
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
