import { expect, test, vi } from "vitest";
import { button, describeSite, SOON } from "./site.ts";

const WIDE = { classes: { normal: { ratio: 0.8 } } };
const NARROW = { classes: { normal: { ratio: 0.5 } } };
const SHARE = "input[aria-label^='Share of class normal']";

describeSite("what changes meanwhile", (site) => {
  test("a form shows the policy of no other fleet, also right after saving that one's", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/one/policy", WIDE);
    await scene.put("/v1/fleets/two/policy", NARROW);
    const page = await site.open({ at: "#/one/policy" });
    await page.waitForSelector(SHARE);
    await page.fill(SHARE, "0.9");
    await button(page, "Save").click();
    await vi.waitFor(
      async () => expect(await page.textContent(".policy > .message")).toContain("Saved"),
      SOON,
    );
    await page.evaluate(() => {
      location.hash = "#/two/policy";
    });
    await vi.waitFor(async () => expect(await page.title()).toContain("two"), SOON);
    await vi.waitFor(async () => expect(await page.inputValue(SHARE)).toBe("0.5"), SOON);
    await page.route("**/v1/fleets/one*", () => undefined);
    await page.evaluate(() => {
      location.hash = "#/one/policy";
    });
    await vi.waitFor(async () => expect(await page.title()).toContain("one"), SOON);
    expect(await page.isVisible(SHARE)).toBe(false);
  });

  test("what another changed in the last moment is not written over unseen", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/raced/policy", WIDE);
    const page = await site.open({ at: "#/raced/policy" });
    await page.waitForSelector(SHARE);
    await page.fill(SHARE, "0.7");
    await scene.put("/v1/fleets/raced/policy", { ...WIDE, paused: true });
    await button(page, "Save").click();
    const message = () => page.textContent(".policy > .message");
    await vi.waitFor(async () => expect(await message()).toContain("changed elsewhere"), SOON);
    expect(await scene.call("GET", "/v1/fleets/raced/policy")).toMatchObject({ ...WIDE, paused: true });
    await button(page, "Save").click();
    await vi.waitFor(async () => expect(await message()).toContain("Saved"), SOON);
    expect(await scene.call("GET", "/v1/fleets/raced/policy")).toMatchObject({
      classes: { normal: { ratio: 0.7 } },
      paused: false,
    });
  });

  test("a question about draining is about the fleet it was asked of, wherever the address goes", async () => {
    const { scene } = site;
    for (const fleet of ["here", "there"]) await scene.beat(fleet, "aws", 1);
    const page = await site.open({ at: "#/here/pods" });
    await button(page, "Drain worker-0 of aws").click();
    expect(await page.textContent("dialog")).toContain("fleet here");
    await page.evaluate(() => {
      location.hash = "#/there/pods";
    });
    await vi.waitFor(async () => expect(await page.title()).toContain("there"), SOON);
    await page.waitForTimeout(500);
    await page.locator("dialog").getByRole("button", { name: "Drain" }).click();
    await vi.waitFor(
      async () =>
        expect(await scene.call("GET", "/v1/fleets/here/drain")).toEqual({
          draining: [{ cluster: "aws", pod: "worker-0" }],
        }),
      SOON,
    );
    expect(await scene.call("GET", "/v1/fleets/there/drain")).toEqual({ draining: [] });
    expect(await page.textContent(".drains")).toBe("");
  });

  test.each([-7_200_000, 7_200_000])(
    "a browser whose clock is %d ms off shows ages as they are",
    async (off) => {
      const { scene } = site;
      await scene.beat("films", "aws", 3);
      await scene.put("/v1/queues/films", { fleet: "films", max_deliveries: 1 });
      await scene.post("/v1/queues/films/tasks", { id: "t1", payload: 1 });
      const claim = { cluster: "aws", pod: "worker-0", instance: "01J8Z" };
      const { tasks } = await scene.post<{ tasks: { lease: { id: string } }[] }>(
        "/v1/queues/films/claim",
        claim,
      );
      for (const { lease } of tasks)
        await scene.post("/v1/queues/films/fail", { lease: lease.id, retry: false });
      const page = await site.open({ key: "" });
      await page.clock.setSystemTime(Date.now() + off);
      await page.evaluate((key) => sessionStorage.setItem("fleetgate.key", key), site.stack.key);
      await page.goto(`${site.stack.url}/?skewed#/films/queues`);
      const open = page.getByRole("button", { name: /^Dead letters of films/ });
      await open.click();
      const died = () => page.textContent(".dead tbody tr td:nth-last-child(2)");
      await vi.waitFor(async () => expect(await died()).toMatch(/^\d{1,2} s ago$|^\d{3} ms ago$/), SOON);
    },
  );

  test("what is not known yet is not said to be none", async () => {
    site.expectsFailures = true;
    const { scene } = site;
    await scene.beat("slow", "aws", 1);
    await scene.put("/v1/queues/slow", { fleet: "slow" });
    for (const [tab, calls] of [
      ["pods", "**/v1/fleets/slow/pods*"],
      ["queues", "**/v1/queues*"],
      ["limits", "**/v1/limits"],
    ]) {
      const page = await site.open({ key: "" });
      await page.route(`${calls}`, (route) => route.abort());
      await page.evaluate((key) => sessionStorage.setItem("fleetgate.key", key), site.stack.key);
      await page.goto(`${site.stack.url}/?slow#/slow/${tab}`);
      await page.waitForSelector(".banner:not([hidden])");
      expect([tab, await page.isVisible(`#panel-${tab} .none`)]).toEqual([tab, false]);
    }
  });
});
