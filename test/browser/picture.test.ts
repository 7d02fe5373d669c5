import { expect, test, vi } from "vitest";
import { askRedis } from "../../scripts/lib/redis-inline.ts";
import { cells, describeSite, figure, SOON } from "./site.ts";

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
    const pods = () => page.$$eval("#panel-pods tbody tr", (all) => all.map((row) => row.textContent));
    await vi.waitFor(async () => {
      expect(await pods()).toHaveLength(10);
      expect((await pods())[0]).toMatch(/^worker-0aws01J8Zready1[2-6]\d snormal [2-6]\d s/);
    }, SOON);

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
    expect(await page.$$eval(".spans [aria-pressed=true]", ([one]) => one?.textContent)).toBe("24 hours");
    await vi.waitFor(async () => expect(await page.textContent(".chart-note")).toBe(""), SOON);
    expect(await page.textContent(".chart .unseen")).toMatch(/^The last day: live \d+ to \d+, busy/);
  });

  test("limits are listed with their levels, and so is the key that the fleet takes from; another is named", async () => {
    const { scene } = site;
    site.expectsFailures = true;
    await scene.beat("limited", "aws", 6);
    await scene.put("/v1/limits/api", { algorithm: "token_bucket", capacity: 100, refill_per_s: 0.001 });
    await scene.post("/v1/limits/api/take", { cost: 25 });
    await scene.post("/v1/limits/api/take", { key: "tenant-7", cost: 60 });
    await scene.put("/v1/limits/grants", { algorithm: "token_bucket", capacity: 10, refill_per_s: 0.001 });
    await scene.put("/v1/fleets/limited/policy", { ttl_ms: 600_000, limit: "grants" });
    await scene.acquire("limited", "aws", 3);
    const page = await site.open({ at: "#/limited/limits" });
    const rows = () =>
      page.$$eval("[aria-label=Limits] tbody tr", (all) => all.map((row) => row.textContent));
    const whole = "Remove"; // The button is there, and hidden where the row is not the reader's own.
    await vi.waitFor(
      async () =>
        expect(await rows()).toEqual([
          expect.stringMatching(`^apidefaulttoken bucket75 of 1000\\.001now${whole}$`),
          expect.stringMatching(`^grantsdefaulttoken bucket10 of 100\\.001now${whole}$`),
          expect.stringMatching(`^grantslimitedtoken bucket7(\\.\\d+)? of 100\\.001now${whole}$`),
        ]),
      SOON,
    );
    expect(await page.$eval("meter", (meter) => (meter as HTMLMeterElement).value)).toBeCloseTo(75, 0);
    await scene.post("/v1/limits/api/take", { cost: 75 });
    await vi.waitFor(async () => expect((await rows())[0]).toMatch(/0(\.\d+)? of 1000\.001in \d+ min/), SOON);
    await page.fill("#watch-limit", "nothing");
    await page.keyboard.press("Enter");
    await vi.waitFor(
      async () => expect(await page.textContent("#panel-limits .watch")).toContain("refused"),
      SOON,
    );
    await page.fill("#watch-limit", "api");
    await page.fill("#watch-limit-key", "tenant-7");
    await page.keyboard.press("Enter");
    await vi.waitFor(async () => expect((await rows())[1]).toMatch(/^apitenant-7.*40(\.\d+)? of 100/), SOON);
    const remove = page.getByRole("button", { name: /^Stop watching/ });
    expect(await remove.count()).toBe(1);
    await remove.click();
    await vi.waitFor(async () => expect(await rows()).toHaveLength(3), SOON);
  });

  test("a fleet whose records are broken is named with what to do, and hides no other", async () => {
    const { scene, stack } = site;
    await scene.put("/v1/fleets/torn/policy", {});
    await scene.beat("whole", "aws", 6);
    const page = await site.open({ at: "#/whole/pods" });
    await page.waitForSelector('[data-fleet="torn"]');
    await askRedis(stack.redis?.port ?? 0, "SET fg:{fleet:torn}:policy junk");
    await vi.waitFor(
      async () =>
        expect(await page.textContent("[aria-label='Fleets that cannot be read']")).toBe(
          "torn cannot be read: the stored policy of the fleet torn cannot be read; PUT it again",
        ),
      SOON,
    );
    expect(await figure(page, "whole", "live")).toBe("6");
    expect(await page.$('[data-fleet="torn"]')).toBeNull();
    await page.goto(`${stack.url}/#/torn/pods`);
    await page.waitForSelector(".detail", { state: "hidden" });
    expect(await page.getAttribute(".connection", "data-state")).toBe("live");
    await scene.put("/v1/fleets/torn/policy", {});
    await page.waitForSelector('[data-fleet="torn"]');
    await page.waitForSelector(".broken", { state: "hidden" });
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
});
