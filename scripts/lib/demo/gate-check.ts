import { degradedGrants, grantsOf, type Hold, holdsOf } from "./holds.ts";
import type { PodEntry, Trail } from "./lines.ts";
import { countedIn, presenceOf } from "./presence.ts";
import { offsetOf } from "./timeline.ts";

/** What the gate must have kept to. */
export interface Rules {
  ttlMs: number;
  /** Shares of the live pods by class, in ten-thousandths. */
  ratios: { [name: string]: number };
}

/** What the trails of the pods say of the gate. */
export interface GateFindings {
  grants: number;
  high: number;
  degraded: number;
  finished: number;
  lost: number;
  killedWhileHolding: number;
  /** The most slots surely held when a grant was heard, with what was allowed for it. */
  mostHeld: { held: number; capacity: number; live: number };
  /** Grants that took the last slot their class could have. */
  tookTheLast: number;
  /** Within how many milliseconds the processes' and the coordinator's time could be laid over each other. */
  clockSlackMs: number;
  breaches: string[];
}

/** A hold with the pods that were counted, at least and at most, while it was decided. */
type Judged = Hold & { least: number; most: number };

/**
 * Replays every grant against what the processes themselves wrote down: whenever one is heard, the slots surely held
 * (this one counted) must fit the capacity that the pods possibly alive allow, and what the coordinator said of N,
 * busy and capacity must fit too.
 */
export function checkGate(trails: Trail<PodEntry>[], rules: Rules): GateFindings {
  const entries = trails.flatMap((trail) => trail.entries);
  const clock = offsetOf(trails.flatMap(grantsOf)) ?? { offset: 0, slackMs: 0 };
  const presences = trails.map((trail) => presenceOf(trail, rules.ttlMs));
  const holds = trails
    .flatMap((trail) => holdsOf(trail, clock))
    .map((hold) => ({ ...hold, ...countedIn(presences, hold.decided) }))
    .sort((one, other) => one.heardAt - other.heardAt);
  const findings: GateFindings = {
    grants: holds.length,
    high: holds.filter((hold) => hold.class === "high").length,
    degraded: trails.flatMap(degradedGrants).length,
    finished: entries.filter((line) => line.event === "released" && line.how !== "lost").length,
    lost: entries.filter((line) => line.event === "lost").length,
    killedWhileHolding: holds.filter((hold) => hold.how === "killed").length,
    mostHeld: { held: 0, capacity: 0, live: 0 },
    tookTheLast: holds.filter(({ said }) => said.busy === said.capacity).length,
    clockSlackMs: Math.ceil(clock.slackMs),
    breaches: [],
  };
  for (const grant of holds) {
    const held = holds.filter((one) => one.heardAt <= grant.heardAt && one.until > grant.heardAt);
    const { capacity, live } = allowed(held, rules);
    if (held.length > findings.mostHeld.held) findings.mostHeld = { held: held.length, capacity, live };
    if (held.length > capacity)
      findings.breaches.push(`${held.length} slots held, ${capacity} allowed: ${told(grant)}`);
    findings.breaches.push(...checkSaid(grant, rules));
  }
  return findings;
}

/** What was allowed when the last of these was granted; where more than one may have been the last, the most. */
function allowed(held: Judged[], rules: Rules): { capacity: number; live: number } {
  const latest = held.reduce((max, { decided }) => Math.max(max, decided.from), 0);
  const candidates = held
    .filter(({ decided }) => decided.to >= latest)
    .map((one) => ({ capacity: capacityOf(one.most, one.class, rules), live: one.most }));
  return candidates.reduce((one, other) => (other.capacity > one.capacity ? other : one), {
    capacity: 0,
    live: 0,
  });
}

function checkSaid(grant: Judged, rules: Rules): string[] {
  const { live, busy, capacity } = grant.said;
  const breaches: string[] = [];
  // The answer to a repeated request counts at the time of the repeat.
  if (grant.first && (live < grant.least || live > grant.most))
    breaches.push(`N was said to be ${live}, the pods say ${grant.least} to ${grant.most}: ${told(grant)}`);
  if (capacity !== capacityOf(live, grant.class, rules))
    breaches.push(`capacity was said to be ${capacity} at N ${live}: ${told(grant)}`);
  if (grant.first && busy > capacity)
    breaches.push(`busy was said to be ${busy} of ${capacity}: ${told(grant)}`);
  return breaches;
}

function capacityOf(live: number, name: string, { ratios }: Rules): number {
  return Math.max(1, Math.floor(((ratios[name] ?? 0) * live) / 10_000));
}

const told = ({ who, class: name, grantedAt }: Hold) =>
  `${name} to ${who} at ${new Date(grantedAt).toISOString()}`;
