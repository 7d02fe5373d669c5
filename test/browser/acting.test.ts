import { expect, test, vi } from "vitest";
import { button, describeSite, figure, SOON } from "./site.ts";

describeSite("acting", (site) => {
  test("a key is asked for once, kept in the tab alone, and a wrong one is told in words", async () => {
    site.expectsFailures = true;
    const page = await site.open({ key: "" });
    await page.fill("#key", "fg_wrong");
    await page.keyboard.press("Enter");
    await vi.waitFor(
      async () => expect(await page.textContent(".message")).toContain("This key is not known here"),
      SOON,
    );
    await page.fill("#key", site.stack.key);
    await button(page, "Open").click();
    await page.waitForSelector("header");
    expect(page.url()).toBe(`${site.stack.url}/`);
    await page.reload();
    await page.waitForSelector("header");
    expect(await page.evaluate(() => localStorage.length + document.cookie.length)).toBe(0);
    await button(page, "Forget key").click();
    await page.waitForSelector("#key:focus");
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  test("a key that is refused later leads back to the question, with the reason", async () => {
    site.expectsFailures = true;
    const page = await site.open({ key: "fg_revoked" });
    await vi.waitFor(
      async () => expect(await page.textContent(".key .message")).toContain("not known here"),
      SOON,
    );
  });

  test("a policy's new capacity is shown in words, in the table and in the bar before it is saved", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/render/policy", {
      ttl_ms: 600_000,
      classes: { normal: { ratio: 0.8 }, high: { ratio: 1 } },
    });
    await scene.beat("render", "aws", 10);
    const page = await site.open({ at: "#/render/policy" });
    await vi.waitFor(async () => expect(await figure(page, "render", "capacity")).toBe("8"), SOON);
    expect(await button(page, "Save").isDisabled()).toBe(true);
    await page.fill("input[aria-label^='Share of class normal']", "0.55");
    expect(await page.textContent(".effect")).toBe("With 10 live, normal work may hold 5 instead of 8.");
    expect(await page.textContent(".classes tbody tr")).toBe("normal85");
    expect(await page.textContent(".mark-label.ghost")).toBe("5");
    expect(await figure(page, "render", "capacity")).toBe("8");
    await button(page, "Save").click();
    await vi.waitFor(async () => expect(await figure(page, "render", "capacity")).toBe("5"), SOON);
    expect(await page.textContent(".policy > .message")).toContain("Saved");
    const { classes } = await scene.call<{ classes: unknown }>("GET", "/v1/fleets/render/policy");
    expect(classes).toEqual({ normal: { ratio: 0.55 }, high: { ratio: 1 } });
  });

  test("a policy that cannot be is not sent, and one that changed elsewhere is not lost from sight", async () => {
    const { scene } = site;
    await scene.put("/v1/fleets/elsewhere/policy", { ttl_ms: 600_000 });
    const page = await site.open({ at: "#/elsewhere/policy" });
    await page.waitForSelector(".classes input");
    await page.fill("input[aria-label^='Share of class normal']", "1.5");
    await button(page, "Save").click();
    expect(await page.$$eval(".policy input:invalid", (all) => all.length)).toBe(1);
    await scene.put("/v1/fleets/elsewhere/policy", { ttl_ms: 500_000 });
    await vi.waitFor(
      async () => expect(await page.textContent(".policy > .message")).toContain("changed elsewhere"),
      {
        timeout: 10_000,
      },
    );
    await button(page, "Discard").click();
    await vi.waitFor(async () => expect(await page.inputValue("#policy-ttl_ms")).toBe("500"), {
      timeout: 10_000,
    });
  });

  test("a key that may only look is told so when it tries to change something", async () => {
    site.expectsFailures = true;
    const page = await site.open({ at: "#/render/policy", key: site.readKey });
    await page.check("#policy-paused");
    await button(page, "Save").click();
    await vi.waitFor(
      async () =>
        expect(await page.textContent(".policy > .message")).toContain("Use a key with scope admin"),
      SOON,
    );
  });

  test("a pod and a cluster are drained after a question, and taken back", async () => {
    const { scene } = site;
    await scene.beat("drained", "aws", 2);
    const directive = async () =>
      (
        await scene.post<{ directive: string }>("/v1/fleets/drained/heartbeat", {
          cluster: "aws",
          pod: "worker-1",
          instance: "01J8Z",
        })
      ).directive;
    const page = await site.open({ at: "#/drained/pods" });
    await button(page, "Drain worker-1 of aws").click();
    expect(await page.textContent("dialog")).toContain("Drain pod worker-1 of aws?");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
      "Drain worker-1 of aws",
    );
    expect(await directive()).toBe("run");
    await page.keyboard.press("Enter");
    await page.locator("dialog").getByRole("button", { name: "Drain" }).click();
    await vi.waitFor(
      async () => expect(await page.textContent(".drains")).toContain("pod worker-1 of aws is told to drain"),
      SOON,
    );
    expect(await directive()).toBe("drain");
    await button(page, "Drain cluster").click();
    await page.locator("dialog").getByRole("button", { name: "Drain" }).click();
    await button(page, "Take back: cluster aws").click();
    await button(page, "Take back: pod worker-1 of aws").click();
    await vi.waitFor(async () => expect(await page.textContent(".drains")).toBe(""), SOON);
    expect(await directive()).toBe("run");
  });

  test("queues show their counts, and dead letters are redriven; what was sent is text, never markup", async () => {
    const { scene } = site;
    await scene.beat("films", "aws", 3);
    await scene.put("/v1/queues/frames", { fleet: "films", max_deliveries: 1 });
    await scene.post("/v1/queues/frames/tasks/batch", {
      tasks: [
        ...["t1", "t2", "t3", "t4"].map((id) => ({ id, payload: 1 })),
        ...["t5", "t6"].map((id) => ({ id, payload: 1, delay_ms: 3_600_000 })),
      ],
    });
    const claim = { cluster: "aws", pod: "worker-0", instance: "01J8Z", max: 2 };
    const { tasks } = await scene.post<{ tasks: { lease: { id: string } }[] }>(
      "/v1/queues/frames/claim",
      claim,
    );
    const error = "<img src=x onerror=alert(1)>";
    for (const { lease } of tasks) await scene.post("/v1/queues/frames/fail", { lease: lease.id, error });
    await scene.post("/v1/queues/frames/claim", { ...claim, pod: "worker-1", max: 1 });
    const page = await site.open({ at: "#/films/queues" });
    const cells = () =>
      page.$$eval("#panel-queues .scroll [scope=row] ~ td", (all) => all.map((cell) => cell.textContent));
    const [ready, delayed, inFlight, oldest, dead] = ["1", "2", "1", expect.stringMatching(/^\d+ m?s$/), "2"];
    await vi.waitFor(
      async () => expect(await cells()).toEqual([ready, delayed, inFlight, oldest, dead]),
      SOON,
    );
    await button(page, "Dead letters of frames: 2").click();
    await vi.waitFor(async () => expect(await page.textContent(".dead tbody")).toContain(error), SOON);
    expect(await page.$$("img")).toEqual([]);
    await button(page, "Redrive t1").click();
    await vi.waitFor(
      async () => expect(await page.textContent(".dead")).toContain("1 task made ready again."),
      SOON,
    );
    await button(page, "Redrive all").click();
    await page.waitForSelector(".dead .none:not([hidden])");
    expect(await scene.call("GET", "/v1/queues/frames")).toMatchObject({
      ready: 3,
      delayed: 2,
      in_flight: 1,
      dead: 0,
    });
  });

  test("tabs are reached by arrow keys, and the address goes along", async () => {
    const page = await site.open({ at: "#/render/pods" });
    await page.waitForSelector("#tab-pods");
    await page.focus("#tab-pods");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#tab-queues[aria-selected=true]:focus");
    expect(new URL(page.url()).hash).toBe("#/render/queues");
    await page.keyboard.press("End");
    await page.waitForSelector("#panel-policy:not([hidden])");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#panel-pods:not([hidden])");
  });

  test("a hidden tab asks nothing, and catches up as soon as it is seen", async () => {
    const page = await site.open({ at: "#/render/pods" });
    await page.waitForSelector('[data-fleet="render"]');
    const show = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await show(true);
    const before = site.asked.length;
    await page.waitForTimeout(4_500);
    expect(site.asked.length).toBe(before);
    await site.scene.beat("render", "gcp", 3);
    await show(false);
    await vi.waitFor(async () => expect(await figure(page, "render", "live")).toBe("13"), { timeout: 1_500 });
  });

  test("the content policy holds: no script, no markup and no other host can be brought in", async () => {
    const page = await site.open();
    const tried = await page.evaluate(async () => {
      const markup = (() => {
        try {
          document.body.insertAdjacentHTML("beforeend", "<b>x</b>");
          return "let in";
        } catch {
          return "refused";
        }
      })();
      return { markup, frames: document.querySelectorAll("iframe").length };
    });
    expect(tried).toEqual({ markup: "refused", frames: 0 });
    const complaints: string[] = [];
    await vi.waitFor(() => {
      complaints.push(...site.takeComplaints());
      expect(complaints).toHaveLength(2);
    }, SOON);
    expect(complaints).toContain("violates require-trusted-types-for");
    const { headers } = await fetch(site.stack.url);
    const policy = headers.get("content-security-policy");
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; img-src data:; connect-src 'self'/,
    );
    expect(policy).not.toContain("unsafe");
  });

  test("a lost connection, and a store that is down, are told with the age of what is shown, until they are over", async () => {
    site.expectsFailures = true;
    await site.scene.put("/v1/fleets/outage/policy", { ttl_ms: 600_000 });
    await site.scene.beat("outage", "aws", 4);
    const page = await site.open({ at: "#/outage/pods" });
    await vi.waitFor(async () => expect(await figure(page, "outage", "live")).toBe("4"), SOON);
    const banner = () => page.textContent(".banner:not([hidden])", { timeout: 6_000 });

    await page.context().setOffline(true);
    expect(await banner()).toContain("The coordinator does not answer.");
    expect(await page.textContent("[role=status].unseen")).toContain("does not answer");
    expect(await figure(page, "outage", "live")).toBe("4");
    await page.context().setOffline(false);
    await page.waitForSelector(".connection[data-state=live]", { timeout: 6_000 });
    expect(await page.textContent("[role=status].unseen")).toContain("Connected again");

    await site.stack.redis?.kill();
    expect(await banner()).toMatch(/The store cannot be reached.*What is shown is \d+ s old\./);
    expect(await figure(page, "outage", "live")).toBe("4");
    await site.stack.redis?.restart();
    await page.waitForSelector(".connection[data-state=live]", { timeout: 12_000 });
    expect(await page.isHidden(".banner")).toBe(true);
    // This Redis kept nothing; what is shown is what is there.
    expect(await figure(page, "outage", "live")).toBe("0");
  });
});
