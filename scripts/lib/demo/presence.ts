import type { PodEntry, Trail } from "./lines.ts";

/** A stretch of the machine's monotonic clock. */
export interface Span {
  from: number;
  to: number;
}

/** When a pod was counted as live: surely, and possibly (the calls under way could have gone either way). */
export interface Presence {
  pod: string;
  surely: Span[];
  possibly: Span[];
}

/** How long after it was sent a call that nobody heard of may still have been carried out. */
const LATE_MS = 2_500;

/** Reads off its beats when one process was counted; `ttlMs` is the policy's. */
export function presenceOf(record: Trail<PodEntry>, ttlMs: number): Presence {
  const { entries } = record;
  const outcomes = new Map<number, PodEntry>();
  for (const line of entries)
    if (line.event === "answered" || line.event === "unanswered") outcomes.set(line.call, line);
  const goings = entries.filter(
    (line) => line.event === "sent" && (line.what === "leave" || line.state === "draining"),
  );
  const isDone = (line: PodEntry | undefined) => line?.event === "answered" && line.status === 200;

  const presence: Presence = { pod: `${record.cluster}/${record.name}`, surely: [], possibly: [] };
  for (const line of entries) {
    if (line.event !== "sent" || line.what !== "heartbeat" || line.state !== "ready") continue;
    const heard = outcomes.get(line.call);
    // Only what comes after: a pod that failed to join has left, and may have joined since.
    const later = goings.filter(({ at }) => at > line.at);
    const goingAt = later[0]?.at ?? Number.POSITIVE_INFINITY;
    const gone = later.map((going) => outcomes.get("call" in going ? going.call : 0)).find(isDone);
    const goneAt = gone?.at ?? Number.POSITIVE_INFINITY;
    if (heard?.event === "answered" && heard.status === 409) continue;
    if (heard?.event === "answered" && heard.status === 200) {
      presence.surely.push({ from: heard.at, to: Math.min(line.at + ttlMs, goingAt) });
      presence.possibly.push({ from: line.at, to: Math.min(heard.at + ttlMs, goneAt) });
    } else presence.possibly.push({ from: line.at, to: line.at + LATE_MS + ttlMs });
  }
  return presence;
}

/** How many different pods were counted at the least and at the most at any moment of a stretch. */
export function countedIn(presences: Presence[], span: Span): { least: number; most: number } {
  const least = new Set<string>();
  const most = new Set<string>();
  for (const { pod, surely, possibly } of presences) {
    if (surely.some(({ from, to }) => from <= span.from && to > span.to)) least.add(pod);
    if (possibly.some(({ from, to }) => from <= span.to && to > span.from)) most.add(pod);
  }
  return { least: least.size, most: most.size };
}
