import { createClient, type StatusAnswer } from "../../../src/client/index.ts";
import type { Coordinator } from "./coordinator.ts";
import { makeCrew } from "./crew.ts";
import { fleetTable, makeTally } from "./fleet-table.ts";
import { checkGate, type GateFindings } from "./gate-check.ts";
import { readJournal } from "./journal.ts";
import type { PodLine } from "./lines.ts";
import { CLUSTERS, scale } from "./scale.ts";
import { play, workerSteps } from "./scenario.ts";
import type { Screen } from "./screen.ts";
import { activeTime, keepDrawing, type Stage, until } from "./stage.ts";

/** What a demo of the gate found out. */
export interface FleetVerdict extends GateFindings {
  processes: number;
  leaks: { live: number; busy: number };
}

const POLICY = { ttl_ms: 3_000, heartbeat_ms: 1_000, lease_ttl_ms: 3_000 };
const RULES = { ttlMs: POLICY.ttl_ms, ratios: { normal: 8_000, high: 10_000 } };
const PROGRAM = "./pod.ts";
/** The longest task, and leaving. */
const ENDING_MS = 5_000;
const DRAIN_MS = 15_000;

/** Runs pods as processes against a coordinator, hurts them, and judges what they wrote down. */
export async function runFleetDemo(
  { url, key, outages }: Coordinator,
  stage: Stage,
  screen: Screen,
): Promise<FleetVerdict> {
  const { name, dir, signal } = stage;
  const fleet = createClient({ url, key, timeoutMs: 1_000, deadlineMs: 5_000 }).fleet(name);
  await fleet.putPolicy(POLICY);
  const crew = makeCrew(dir, { url, key, fleet: name, queue: name });
  const tally = makeTally(crew);
  const status = () => fleet.status({ retry: false }).catch(() => undefined);
  const stopDrawing = keepDrawing(async () => screen.table(fleetTable(crew, await status(), tally())));
  try {
    for (const [cluster, count] of Object.entries(CLUSTERS)) scale(crew, PROGRAM, cluster, count);
    await until(async () => (await status())?.live === crew.running().length, 20_000, signal);
    screen.event(`${crew.running().length} pods have joined, each a process of its own`);

    const activeMs = activeTime(stage, ENDING_MS);
    await play(workerSteps(crew, PROGRAM, activeMs, outages), activeMs, signal, screen.event);
    screen.event("all pods get SIGTERM: they finish their tasks and leave");
    for (const member of crew.running()) crew.end(member, "SIGTERM");
    const late = await crew.disband(DRAIN_MS);
    await until(async () => isEmpty(await status()), POLICY.ttl_ms + 1_500, signal).catch(() => {});

    const { live = -1, busy = -1 } = (await fleet.status()) satisfies StatusAnswer;
    const records = crew.records().map((one) => ({ ...one, entries: readJournal<PodLine>(one.file) }));
    const findings = checkGate(records, RULES);
    const breaches = [...findings.breaches, ...crew.failures()];
    for (const { record } of late) breaches.push(`${record.cluster}/${record.name} did not end in time`);
    if (live !== 0 || busy !== 0) breaches.push(`at the end ${live} pods and ${busy} slots are left`);
    if (findings.finished === 0) breaches.push("no task was finished");
    return { ...findings, breaches, processes: records.length, leaks: { live, busy } };
  } finally {
    await stopDrawing();
    for (const member of crew.running()) crew.end(member, "SIGKILL");
    await crew.disband(2_000);
  }
}

const isEmpty = (status: StatusAnswer | undefined) => status?.live === 0 && status.busy === 0;
