import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { chromiumPath, startChromium } from "../../scripts/lib/chromium.ts";
import { keyRecord, newKey } from "../../scripts/lib/keys.ts";
import { sceneOf } from "../../scripts/lib/scene.ts";
import { type Stack, startStack } from "../../scripts/lib/stack.ts";

const isMissing = chromiumPath() === undefined;

/** What is shown follows within this. */
export const SOON = { timeout: 3_000, interval: 50 };

export interface OpenOptions extends BrowserContextOptions {
  /** What follows the origin: `#/fleet/tab`. */
  at?: string;
  /** The key in the tab; the stack's own unless given, none when empty. */
  key?: string;
}

/** A whole stack and a real browser for one file. Every page must keep to the origin, to its policy, and throw nothing. */
export function describeSite(name: string, tests: (site: Site) => void): void {
  const title = isMissing ? `${name} (skipped: Chromium is not installed, apt-get install chromium)` : name;
  describe.skipIf(isMissing)(title, () => {
    const site = new Site();
    beforeAll(() => site.start());
    afterEach(() => site.closePages());
    afterAll(() => site.stop());
    tests(site);
  });
}

export class Site {
  /** A key that may only look. */
  readonly readKey = newKey();
  stack!: Stack;
  scene!: ReturnType<typeof sceneOf>;
  #browser: Browser | undefined;
  #dir = "";
  readonly #complaints: string[] = [];
  /** Paths asked for, since the page was opened. */
  readonly asked: string[] = [];
  /** Set where a test makes calls fail on purpose: Chromium writes each failed load to the console. */
  expectsFailures = false;

  async start() {
    this.#dir = mkdtempSync(join(tmpdir(), "fleetgate-browser-"));
    const keys = [keyRecord(this.readKey, { id: "looker", scopes: ["read"] })];
    const starting = startStack({ dir: this.#dir, port: 0, keys });
    [this.stack, this.#browser] = await Promise.all([starting, startChromium()]);
    this.scene = sceneOf(this.stack);
  }

  async stop() {
    await this.#browser?.close();
    await this.stack?.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async open({ at = "", key = this.stack.key, ...options }: OpenOptions = {}): Promise<Page> {
    if (!this.#browser) throw new Error("the browser did not start");
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    await context.addInitScript((given) => {
      if (given) sessionStorage.setItem("fleetgate.key", given);
      addEventListener("securitypolicyviolation", (event) =>
        console.error(`violates ${event.violatedDirective}`),
      );
    }, key);
    page.on("pageerror", (error) => this.#complaints.push(error.message));
    page.on("console", (message) => {
      const isFailedLoad = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !(isFailedLoad && this.expectsFailures))
        this.#complaints.push(message.text());
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      this.asked.push(url.pathname);
      if (url.origin !== this.stack.url && url.protocol !== "data:")
        this.#complaints.push(`left for ${url.origin}`);
    });
    await page.goto(`${this.stack.url}/${at}`);
    return page;
  }

  async closePages() {
    for (const context of this.#browser?.contexts() ?? []) await context.close();
    this.asked.length = 0;
    this.expectsFailures = false;
    expect(this.takeComplaints()).toEqual([]);
  }

  /** What pages complained of so far; a test that provokes it takes it away. */
  takeComplaints = (): string[] => this.#complaints.splice(0);
}

/** The button of that very name. */
export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** The number that a fleet's card shows. */
export const figure = (page: Page, fleet: string, name: string): Promise<string | null> =>
  page.textContent(`[data-fleet="${fleet}"] [data-figure="${name}"]`);

/** How many cells of each state the gate of a fleet has, left to right, as "3 held, 1 free". */
export async function cells(page: Page, fleet: string): Promise<string> {
  const states = await page.$$eval(`[data-fleet="${fleet}"] .gate .cell`, (all) =>
    all.map((cell) => cell.getAttribute("class")?.replace("cell ", "") ?? ""),
  );
  const runs: { state: string; count: number }[] = [];
  for (const state of states) {
    const last = runs.at(-1);
    if (last?.state === state) last.count += 1;
    else runs.push({ state, count: 1 });
  }
  return runs.map(({ state, count }) => `${count} ${state}`).join(", ");
}
