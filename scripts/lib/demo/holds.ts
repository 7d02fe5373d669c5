import type { Answered, PodEntry, Sent, Trail } from "./lines.ts";
import type { Span } from "./presence.ts";
import type { Offset } from "./timeline.ts";

/** A grant that a pod heard, in the coordinator's own time, with what was counted when it was given. */
export interface Grant {
  who: string;
  lease: string;
  class: string;
  /** Epoch ms of the coordinator's clock. */
  grantedAt: number;
  said: { live: number; busy: number; capacity: number };
  /** False when an earlier try under the same request may have been the one that was granted. */
  first: boolean;
  /** When the call went out and its answer came, on the machine's monotonic clock. */
  sentAt: number;
  heardAt: number;
  ttlMs: number;
}

/** A slot that was surely held: from when its pod heard of it until it gave it back or could no longer be sure. */
export interface Hold extends Grant {
  /** Within when it was granted, and until when it was held, on the machine's monotonic clock. */
  decided: Span;
  until: number;
  how: "released" | "lost" | "killed";
}

/** The grants without a slot, while the coordinator was out of reach. */
export const degradedGrants = (record: Trail<PodEntry>) =>
  record.entries.filter((line) => line.event === "granted" && line.degraded);

/** Every grant that one process heard and took into use. */
export function grantsOf(record: Trail<PodEntry>): Grant[] {
  const used = new Map<string, string>();
  for (const line of record.entries)
    if (line.event === "granted" && line.lease) used.set(line.lease, line.class);
  const sent = new Map<number, PodEntry & Sent>();
  const requests = new Map<string, number>();
  const grants: Grant[] = [];
  for (const line of record.entries) {
    if (line.event === "sent" && line.what === "acquire") {
      sent.set(line.call, line);
      const request = line.request ?? "";
      // A call that was answered with a no has certainly not been granted: it does not count as an earlier try.
      requests.set(request, (requests.get(request) ?? 0) + 1);
    }
    if (line.event !== "answered" || line.what !== "acquire") continue;
    const call = sent.get(line.call);
    const request = call?.request ?? "";
    if (line.granted === false) requests.set(request, 0);
    const { lease } = line;
    const name = lease && used.get(lease.id);
    if (!call || !lease || name === undefined) continue;
    grants.push({
      who: `${record.cluster}/${record.name}`,
      lease: lease.id,
      class: name,
      grantedAt: lease.expires_at - lease.ttl_ms,
      said: saidIn(line),
      first: requests.get(request) === 1,
      sentAt: call.at,
      heardAt: line.at,
      ttlMs: lease.ttl_ms,
    });
  }
  return grants;
}

/** Each grant with its decision and the end of its hold, the coordinator's time laid over the machine's. */
export function holdsOf(record: Trail<PodEntry>, { offset, slackMs }: Offset): Hold[] {
  return grantsOf(record).map((grant) => {
    const end = record.entries.find(
      (line) => (line.event === "releasing" || line.event === "lost") && line.lease === grant.lease,
    );
    // The coordinator looks at its clock first and asks the store then, so others may overtake in between.
    const decided = { from: grant.grantedAt + offset - slackMs, to: grant.heardAt };
    // Past its last confirmed renewal and one ttl, no slot is surely held, whatever its holder believes.
    const deadline = Math.max(decided.from, lastRenewal(record, grant.lease)) + grant.ttlMs;
    const until = Math.min(end?.at ?? deadline, deadline);
    const how = end === undefined ? "killed" : end.event === "lost" ? "lost" : "released";
    return { ...grant, decided, until, how };
  });
}

function lastRenewal(record: Trail<PodEntry>, lease: string): number {
  const sent = new Map<number, number>();
  let last = 0;
  for (const line of record.entries) {
    if (line.event === "sent" && line.leases?.includes(lease)) sent.set(line.call, line.at);
    if (line.event !== "answered" || line.status !== 200 || line.lost?.includes(lease)) continue;
    last = Math.max(last, sent.get(line.call) ?? 0);
  }
  return last;
}

function saidIn({ live = 0, busy = 0, capacity = 0 }: Answered): Grant["said"] {
  return { live, busy, capacity };
}
