import { expect, test, vi } from "vitest";
import { cells, describeSite, figure, SOON, seriousViolations } from "./site.ts";

describeSite("the picture", (site) => {
  test("follows real pods within three seconds: beats, grants, urgent ones, releases and lapses", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/render/policy", { ttl_ms: 60_000, lease_ttl_ms: 60_000 });
    const page = await site.open({ at: "#/render/pods" });
    await page.waitForSelector('[data-fleet="render"]');
    expect(await cells(page, "render")).toBe("1 unlived");

    await scene.beat("render", "aws", 6);
    await scene.beat("render", "onprem", 4);
    await vi.waitFor(async () => expect(await figure(page, "render", "live")).toBe("10"), SOON);
    expect(await figure(page, "render", "capacity")).toBe("8");
    expect(await figure(page, "render", "reserve")).toBe("2");
    expect(await cells(page, "render")).toBe("8 free, 2 reserve");
    expect(await page.textContent(".clusters")).toBe("aws 0 of 6onprem 0 of 4");

    const held = await scene.acquire("render", "aws", 6);
    await scene.acquire("render", "onprem", 2);
    await scene.acquire("render", "onprem", 1, { class: "high" });
    await vi.waitFor(async () => expect(await figure(page, "render", "busy")).toBe("9"), SOON);
    expect(await cells(page, "render")).toBe("8 held, 1 urgent, 1 reserve");
    const label = await page.getAttribute('[data-fleet="render"] .gate', "aria-label");
    expect(label).toContain("render: 9 of 10 slots held, 1 of them urgent; normal work may hold 8");
    expect(label).toContain("By cluster: aws 6 of 6, onprem 3 of 4.");
    await vi.waitFor(async () => expect(await page.textContent("tbody")).toMatch(/high [45]\d s/), SOON);

    await scene.post("/v1/fleets/render/release", { leases: held });
    await scene.acquire("render", "aws", 1, { ttl_ms: 3_000 });
    await vi.waitFor(async () => expect(await figure(page, "render", "busy")).toBe("4"), SOON);
    await vi.waitFor(async () => expect(await figure(page, "render", "busy")).toBe("3"), {
      ...SOON,
      timeout: 4_000,
    });
  });

  test("what is over stands in red beyond the end, in the numbers and in words", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/over/policy", { ttl_ms: 60_000, lease_ttl_ms: 60_000 });
    await scene.beat("over", "aws", 10);
    await scene.acquire("over", "aws", 8);
    const page = await site.open({ at: "#/over/pods" });
    await page.waitForSelector('[data-fleet="over"] .held');
    for (let pod = 0; pod < 5; pod++) {
      await scene.post("/v1/fleets/over/heartbeat", {
        cluster: "aws",
        pod: `worker-${pod}`,
        instance: "01J8Z",
        state: "draining",
      });
    }
    await vi.waitFor(async () => expect(await cells(page, "over")).toBe("5 held, 3 over"), SOON);
    const card = await page.textContent('[data-fleet="over"]');
    expect(card).toContain("over by 3");
    expect(card).toContain("5 draining");
    expect(await page.getAttribute('[data-fleet="over"] .gate', "aria-label")).toContain(
      "over by 3, nothing is granted",
    );
    const red = () => page.$eval('[data-fleet="over"] .gate .over', (cell) => getComputedStyle(cell).fill);
    await vi.waitFor(async () => expect(await red()).toBe("rgb(195, 32, 43)"), SOON);
    const end = await page.$eval('[data-fleet="over"] .mark.end', (mark) => mark.getBoundingClientRect().x);
    const first = await page.$eval(
      '[data-fleet="over"] .gate .over',
      (cell) => cell.getBoundingClientRect().x,
    );
    expect(first).toBeGreaterThan(end);
  });

  test("a large fleet is drawn to scale and says so", async () => {
    for (const cluster of ["a", "b"]) await site.scene.beat("large", cluster, 500);
    const page = await site.open({ at: "#/large/pods" });
    await vi.waitFor(
      async () => expect(await cells(page, "large")).toMatch(/^(80 free, 20|40 free, 10) reserve$/),
      SOON,
    );
    expect(await page.textContent('[data-fleet="large"] .scale-note')).toMatch(/one cell is (10|20) slots/);
    expect(await figure(page, "large", "live")).toBe("1,000");
    await page.click("button:text-is('Next')");
    await vi.waitFor(async () => expect(await page.textContent(".pager span")).toBe("page 2"), SOON);
  });

  test("history is drawn from the coordinator's samples", async () => {
    await site.scene.beat("render", "aws", 6);
    const page = await site.open({ at: "#/render/pods" });
    await page.waitForSelector(".plot canvas");
    await vi.waitFor(
      async () => expect(await page.textContent(".chart-note")).toContain("No history yet"),
      SOON,
    );
    await site.stack.worker.scheduled();
    await page.click("button:text-is('24 hours')");
    await vi.waitFor(async () => expect(await page.textContent(".chart-note")).toBe(""), SOON);
    expect(await page.textContent(".chart .unseen")).toMatch(/^The last day: live \d+ to \d+, busy/);
  });

  test("a limit that is named shows its level, and one that is not there is told in words", async () => {
    const { scene } = site;
    site.expectsFailures = true;
    await scene.beat("render", "aws", 6);
    await scene.put("/v1/limits/api", { algorithm: "token_bucket", capacity: 100, refill_per_s: 0.001 });
    await scene.post("/v1/limits/api/take", { key: "tenant-7", cost: 60 });
    const page = await site.open({ at: "#/render/limits" });
    await page.fill("#watch-limit", "nothing");
    await page.keyboard.press("Enter");
    await vi.waitFor(
      async () => expect(await page.textContent("#panel-limits .watch")).toContain("refused"),
      SOON,
    );
    await page.fill("#watch-limit", "api");
    await page.fill("#watch-limit-key", "tenant-7");
    await page.keyboard.press("Enter");
    await page.waitForSelector("meter");
    expect(await page.textContent("[aria-label=Limits] tbody")).toMatch(/40(\.\d+)? of 1000\.001now/);
    await page.click("button:text-is('Remove')");
    await page.waitForSelector("meter", { state: "detached" });
  });

  test("refreshing touches only what changed, and keeps the focus where it is", async () => {
    await site.scene.put("/v1/fleets/calm/policy", { ttl_ms: 600_000 });
    await site.scene.beat("calm", "aws", 3);
    const page = await site.open({ at: "#/calm/policy" });
    await page.waitForSelector('[data-fleet="calm"] .free');
    await page.focus("#policy-ttl_ms");
    const changes = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          let seen = 0;
          const target = document.querySelector('[data-fleet="calm"]');
          if (target) {
            const all = { subtree: true, childList: true, attributes: true, characterData: true };
            new MutationObserver((list) => {
              seen += list.length;
            }).observe(target, all);
          }
          setTimeout(() => resolve(seen), 4_500);
        }),
    );
    expect(changes).toBe(0);
    expect(site.asked.filter((path) => path === "/v1/fleets").length).toBeGreaterThanOrEqual(3);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("policy-ttl_ms");
  });

  test.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)(
    "axe finds nothing serious in %s at %i px, and nothing is wider than the screen",
    async (scheme, width) => {
      const { scene } = site;
      await scene.beat("render", "aws", 6);
      await scene.put("/v1/queues/frames", { fleet: "render", max_deliveries: 1 });
      const page = await site.open({
        at: "#/render/pods",
        colorScheme: scheme,
        viewport: { width, height: 844 },
        reducedMotion: "reduce",
      });
      for (const tab of ["Pods", "Queues", "Limits", "Policy"]) {
        await page.click(`[role=tab]:text("${tab}")`);
        const ready = {
          Pods: "tbody tr",
          Queues: "text=frames",
          Limits: "#watch-limit",
          Policy: "#policy-ttl_ms",
        }[tab];
        await page.waitForSelector(`[role=tabpanel]:not([hidden]) ${ready?.startsWith("text") ? "" : ready}`);
        expect(await seriousViolations(page, tab === "Pods" ? "html" : ".detail")).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      }
    },
  );
});
