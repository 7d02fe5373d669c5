import { expect, test, vi } from "vitest";
import { button, describeSite, SOON } from "./site.ts";

describeSite("many and long", (site) => {
  test("with more fleets than are asked about in a round every one of them comes to its turn", async () => {
    const { scene } = site;
    // Of 40 the first is due again once the last was asked about.
    const names = Array.from({ length: 44 }, (_, at) => `fleet-${String(at).padStart(2, "0")}`);
    await Promise.all(names.map((fleet) => scene.beat(fleet, "aws", 2)));
    await scene.put("/v1/fleets/fleet-43/policy", { paused: true });
    const page = await site.open();
    await vi.waitFor(
      async () => expect(await page.textContent('[data-fleet="fleet-43"] .tags')).toBe("paused"),
      { timeout: 30_000, interval: 250 },
    );
  });

  test("the longest names widen no page, however narrow it is", async () => {
    const { scene } = site;
    const long = "W".repeat(128);
    const pod = { cluster: long, pod: "p".repeat(253), instance: long };
    await scene.post(`/v1/fleets/${long}/heartbeat`, pod);
    await scene.post(`/v1/fleets/${long}/drain`, { cluster: long, pod: pod.pod, drain: true });
    await scene.put(`/v1/queues/${long}`, { fleet: long });
    for (const tab of ["pods", "queues", "limits", "policy"]) {
      const page = await site.open({ at: `#/${long}/${tab}`, viewport: { width: 320, height: 700 } });
      await page.waitForSelector(`#panel-${tab}:not([hidden]) .name, #panel-${tab}:not([hidden]) .none`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([tab, width]).toEqual([tab, 320]);
    }
  });

  test("with forced colours the chart's lines still differ, and the tab in sight from the others", async () => {
    await site.scene.beat("forced", "aws", 2);
    const page = await site.open({ at: "#/forced/pods", forcedColors: "active" });
    await page.waitForSelector(".plot canvas");
    const colours = await page.$eval(".plot", (plot) =>
      ["busy", "live", "capacity", "grid"].map((name) => {
        (plot as HTMLElement).style.color = `var(--chart-${name})`;
        return getComputedStyle(plot).color;
      }),
    );
    expect(new Set(colours).size).toBe(4);
    const border = (tab: string) =>
      page.$eval(`#tab-${tab}`, (one) => getComputedStyle(one).borderBottomColor);
    await vi.waitFor(async () => expect(await border("pods")).not.toBe(await border("queues")), SOON);
  });

  test("the whole of a long error can be read by keyboard, and on a phone", async () => {
    const { scene } = site;
    await scene.beat("errors", "aws", 2);
    await scene.put("/v1/queues/errors", { fleet: "errors", max_deliveries: 1 });
    await scene.post("/v1/queues/errors/tasks", { payload: 1 });
    const claim = { cluster: "aws", pod: "worker-0", instance: "01J8Z" };
    const { tasks } = await scene.post<{ tasks: { lease: { id: string } }[] }>(
      "/v1/queues/errors/claim",
      claim,
    );
    const error = `${"Traceback ".repeat(60)}CUDA out of memory`;
    for (const { lease } of tasks)
      await scene.post("/v1/queues/errors/fail", { lease: lease.id, error, retry: false });
    const page = await site.open({ at: "#/errors/queues", viewport: { width: 320, height: 700 } });
    await button(page, "Dead letters of errors: 1").click();
    await page.focus(".dead summary");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".dead details[open] p:visible");
    expect(await page.textContent(".dead details p")).toBe(error);
    await page.waitForTimeout(2_500);
    expect(await page.isVisible(".dead details[open] p")).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });

  test("all dead letters are redriven, more than one call can take, and a page that emptied leads back", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/graves/policy", { ttl_ms: 3_600_000, classes: { normal: { ratio: 1 } } });
    await scene.beat("graves", "aws", 10);
    await scene.put("/v1/queues/graves", { fleet: "graves", max_deliveries: 1 });
    const bury = async (count: number) => {
      for (let first = 0; first < count; first += 100) {
        const size = Math.min(100, count - first);
        await scene.post("/v1/queues/graves/tasks/batch", {
          tasks: Array.from({ length: size }, () => ({ payload: 1 })),
        });
      }
      for (let left = count; left > 0; ) {
        const claim = { cluster: "aws", pod: "worker-0", instance: "01J8Z", max: 10 };
        const { tasks } = await scene.post<{ tasks: { lease: { id: string } }[] }>(
          "/v1/queues/graves/claim",
          claim,
        );
        const fail = (lease: string) => scene.post("/v1/queues/graves/fail", { lease, retry: false });
        await Promise.all(tasks.map(({ lease }) => fail(lease.id)));
        left -= tasks.length;
      }
    };
    await bury(21);
    const page = await site.open({ at: "#/graves/queues" });
    await button(page, "Dead letters of graves: 21").click();
    await page.waitForSelector(".dead tbody tr");
    await button(page, "Next").click();
    await vi.waitFor(async () => expect(await page.$$(".dead tbody tr")).toHaveLength(1), SOON);
    await page.locator(".dead tbody button").click();
    await vi.waitFor(async () => expect(await page.$$(".dead tbody tr")).toHaveLength(20), SOON);
    expect(await page.isVisible(".dead .none")).toBe(false);
    await bury(1_001);
    await button(page, "Redrive all").click();
    await vi.waitFor(
      async () => expect(await page.textContent(".dead .message")).toBe("1,022 tasks made ready again."),
      { timeout: 10_000 },
    );
    expect(await scene.call("GET", "/v1/queues/graves")).toMatchObject({ dead: 0 });
  }, 90_000);
});
