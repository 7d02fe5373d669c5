import { expect, test, vi } from "vitest";
import { askRedis } from "../../scripts/lib/redis-inline.ts";
import { faultsOf } from "./axe.ts";
import { describeSite } from "./site.ts";

// axe looks at every element, four times a state.
vi.setConfig({ testTimeout: 120_000 });

const HOUR_MS = 3_600_000;
const TIMES = { ttl_ms: HOUR_MS, lease_ttl_ms: HOUR_MS };

describeSite("axe finds nothing in light and dark, at 1280 and at 390 px", (site) => {
  test("where a key is asked for, and one was refused", async () => {
    site.expectsFailures = true;
    const page = await site.open({ key: "" });
    await page.fill("#key", "fg_wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".message.bad");
    expect(await faultsOf(page)).toEqual([]);
  });

  test("before any fleet, and with a fleet that is empty", async () => {
    const page = await site.open();
    await page.waitForSelector(".empty:not([hidden])");
    expect(await faultsOf(page)).toEqual([]);
    await site.scene.put("/v1/fleets/empty/policy", TIMES);
    await page.goto(`${site.stack.url}/#/empty/pods`);
    await page.waitForSelector("#panel-pods .none:not([hidden])");
    expect(await faultsOf(page)).toEqual([]);
  });

  test("with a busy fleet: pods of all states, urgent leases, a drain, and the question before one", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/busy/policy", TIMES);
    await scene.beat("busy", "aws", 12);
    await scene.beat("busy", "onprem", 4);
    await scene.acquire("busy", "aws", 12);
    await scene.acquire("busy", "onprem", 1, { class: "high" });
    for (const state of ["starting", "draining"])
      await scene.post("/v1/fleets/busy/heartbeat", { cluster: "gcp", pod: state, state });
    await scene.post("/v1/fleets/busy/drain", { cluster: "onprem", drain: true });
    const page = await site.open({ at: "#/busy/pods" });
    await page.waitForSelector('[data-fleet="busy"] .gate .urgent');
    await page.waitForSelector(".drains li");
    await page.waitForSelector(".state.starting");
    expect(await faultsOf(page)).toEqual([]);
    await page.click("button[aria-label='Drain worker-1 of aws']");
    await page.waitForSelector("dialog[open]");
    expect(await faultsOf(page)).toEqual([]);
  });

  test("with a fleet over capacity, paused, and with a policy that is being changed", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/over/policy", TIMES);
    await scene.beat("over", "aws", 10);
    await scene.acquire("over", "aws", 8);
    for (let pod = 0; pod < 5; pod++)
      await scene.post("/v1/fleets/over/heartbeat", {
        cluster: "aws",
        pod: `worker-${pod}`,
        instance: "01J8Z",
        state: "draining",
      });
    await scene.put("/v1/fleets/over/policy", { ...TIMES, paused: true });
    const page = await site.open({ at: "#/over/policy" });
    await page.waitForSelector('[data-fleet="over"] .gate .over');
    await page.waitForSelector("#policy-ttl_ms");
    await page.fill("input[aria-label^='Share of class normal']", "0.4");
    await page.waitForSelector('[data-fleet="over"] .mark-label.ghost');
    expect(await faultsOf(page)).toEqual([]);
  });

  test("with queues and their dead letters, with limits near their end, and with records that are broken", async () => {
    const { scene, stack } = site;
    site.expectsFailures = true;
    await scene.beat("films", "aws", 3);
    await scene.put("/v1/queues/frames", { fleet: "films", max_deliveries: 1 });
    await scene.put("/v1/queues/torn", { fleet: "films" });
    await scene.post("/v1/queues/frames/tasks/batch", { tasks: [{ payload: 1 }, { payload: 2 }] });
    const claim = { cluster: "aws", pod: "worker-0", instance: "01J8Z" };
    const { tasks } = await scene.post<{ tasks: { lease: { id: string } }[] }>(
      "/v1/queues/frames/claim",
      claim,
    );
    await scene.post("/v1/queues/frames/fail", { lease: tasks[0]?.lease.id, error: "out of memory" });
    await scene.put("/v1/limits/api", { algorithm: "token_bucket", capacity: 100, refill_per_s: 0.001 });
    await scene.post("/v1/limits/api/take", { cost: 97 });
    await askRedis(stack.redis?.port ?? 0, "SET fg:{queue:torn}:config junk");
    const page = await site.open({ at: "#/films/queues" });
    await page.click("button[aria-label='Dead letters of frames: 1']");
    await page.waitForSelector(".dead tbody tr");
    await page.waitForSelector("#panel-queues .broken li");
    expect(await faultsOf(page)).toEqual([]);
    await page.goto(`${stack.url}/#/films/limits`);
    await page.waitForSelector("meter");
    await page.fill("#watch-limit", "nothing");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#panel-limits .message.bad");
    expect(await faultsOf(page)).toEqual([]);
  });

  test("with the connection lost", async () => {
    site.expectsFailures = true;
    await site.scene.beat("films", "aws", 3);
    const page = await site.open({ at: "#/films/pods" });
    await page.waitForSelector("tbody tr");
    await page.context().setOffline(true);
    await page.waitForSelector(".banner:not([hidden])");
    expect(await faultsOf(page)).toEqual([]);
  });
});
