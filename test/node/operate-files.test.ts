import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { costPage, monthlyCost } from "../../scripts/lib/cost.ts";
import { promtool } from "./promtool.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}/${path}`, "utf8");
const namesIn = (text: string) => new Set(text.match(/fleetgate_[a-z_]*[a-z]/g) ?? []);

/** The names that /metrics gives, from the words in its source; operate-live.test.ts scrapes them for real. */
function metricNames(): Set<string> {
  const source = read("src/operate/metrics.ts");
  const whole = namesIn(source);
  for (const [, name] of source.matchAll(/gauge\(\s*"(\w+)"/g)) whole.add(`fleetgate_${name}`);
  for (const [, name] of source.matchAll(/counter\(\s*"(\w+)"/g)) whole.add(`fleetgate_${name}_total`);
  for (const suffix of ["_bucket", "_sum", "_count"]) {
    for (const name of [...whole].filter((one) => one.endsWith("_seconds"))) whole.add(name + suffix);
  }
  return whole;
}

const dashboard = JSON.parse(read("deploy/grafana/dashboard.json"));
const alerts = read("deploy/grafana/alerts.yaml");
const docs = read("docs/operate.md");
interface Panel {
  targets: { expr: string }[];
}

test("every metric that the dashboard, the alerts and the docs name is one that /metrics gives", () => {
  const known = metricNames();
  expect(known.size).toBeGreaterThan(30);
  const expressions =
    JSON.stringify(dashboard) + alerts.replaceAll(/^ *(summary|description|- alert):.*$/gm, "");
  for (const text of [expressions, docs]) {
    expect([...namesIn(text)].filter((name) => !known.has(name))).toEqual([]);
  }
});

test("every metric that /metrics gives stands in the docs", () => {
  const told = namesIn(docs);
  const given = [...metricNames()].filter((name) => !/_(bucket|sum|count)$/.test(name));
  expect(given.filter((name) => !told.has(name))).toEqual([]);
});

test("the dashboard has panels with targets of their own that do not overlap", () => {
  const places = new Set<string>();
  for (const { title, type, gridPos, targets, datasource } of dashboard.panels) {
    expect(["stat", "timeseries"]).toContain(type);
    expect(title).not.toBe("");
    expect(datasource.uid).toMatch(/^\$\{datasource\}$/);
    expect(targets.length).toBeGreaterThan(0);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(places.has(`${x},${y}`)).toBe(false);
        places.add(`${x},${y}`);
      }
    }
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  }
  const ids = dashboard.panels.map(({ id }: { id: number }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the alerts cover a full fleet, no pod, an old backlog, dead letters, what is not read and a failing store", () => {
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  expect(names).toEqual([
    "FleetgateFleetFull",
    "FleetgateNoLivePod",
    "FleetgateBacklogOld",
    "FleetgateDeadLetters",
    "FleetgateUnread",
    "FleetgateStoreErrors",
    "FleetgateStoreDown",
  ]);
  for (const name of names) expect(docs).toContain(name);
});

test("promtool takes the alert rules, and each fires when it should and not before", () => {
  const rules = promtool(["check", "rules", `${ROOT}/deploy/grafana/alerts.yaml`]);
  expect(rules).toMatchObject({ status: 0, said: expect.stringContaining("7 rules found") });
  const tests = promtool(["test", "rules", `${ROOT}/test/node/alerts.yaml`]);
  expect(tests).toMatchObject({ status: 0, said: expect.stringContaining("SUCCESS") });
});

test("promtool takes every query of the dashboard", () => {
  const queries = dashboard.panels.flatMap(({ targets }: Panel) => targets.map(({ expr }) => expr));
  const rules = queries.map((expr: string, at: number) => ({ record: `query:${at}`, expr }));
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-queries-"));
  try {
    const file = join(dir, "rules.yaml");
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    const { status, said } = promtool(["check", "rules", file]);
    expect({ status, said }).toMatchObject({
      status: 0,
      said: expect.stringContaining(`${rules.length} rules`),
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test("docs/cost.md is what scripts/cost makes", () => {
  expect(read("docs/cost.md")).toBe(costPage());
});

test("costs follow from the budgets: a beat every 10 s of 100 pods is 26 million requests, batched 0.3", () => {
  const single = monthlyCost({ pods: 100, interval: 10, batched: false });
  const batched = monthlyCost({ pods: 100, interval: 10, batched: true });
  expect(single.requests - batched.requests).toBe(99 * 6 * 1_440 * 30);
  expect(single.commands - batched.commands).toBe(3 * 99 * 6 * 1_440 * 30);
  expect(single.workers).toBeCloseTo(5 + ((single.requests - 1e7) / 1e6) * 0.3);
  expect(batched.workers).toBe(0);
  expect(monthlyCost({ pods: 10, interval: 30, batched: false }).fitsFree).toBe(true);
});

test("nothing under deploy/ names a host that is not an example", () => {
  for (const file of readdirSync(`${ROOT}/deploy/grafana`)) {
    expect(read(`deploy/grafana/${file}`)).not.toMatch(/https?:\/\//);
  }
});
