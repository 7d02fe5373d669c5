import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Dark differs from light in colours alone. */
const COLOURS = { runOnly: ["color-contrast"] };

/**
 * What axe finds wrong with a page in light and in dark, on a desk and on a phone, as "look: rule: element"; and whether
 * anything is wider than the screen.
 */
export async function faultsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const faults: string[] = [];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const found = await violations(page, colorScheme === "dark" ? COLOURS : {});
      faults.push(...found.map((fault) => `${colorScheme} ${width}: ${fault}`));
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) faults.push(`${width}: ${wide} px wider than the screen`);
  }
  return faults;
}

const violations = (page: Page, options: object): Promise<string[]> =>
  page.evaluate(async (options) => {
    // Two frames, so that the new colours and the new width are drawn.
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    type Found = { id: string; nodes: { target: string[] }[] };
    type Axe = { run(part: Document, options: object): Promise<{ violations: Found[] }> };
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(document, options);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
  }, options);
