import { Problem } from "../http/problem.ts";
import { parseLease } from "../leases/lease-id.ts";
import type { Ground } from "../redis/ground.ts";
import type { PodsAnswer } from "./schema.ts";
import * as scripts from "./scripts.ts";

type Pod = PodsAnswer["pods"][number];
type Entry = [field: string, record: string, members: (string | number)[], leases: (string | number)[]];

const STATE = { p: "ready", s: "starting", d: "draining" } as const;

/** Pages through the pods that live or hold a lease, in order of cluster and pod; one without a beat is `silent`. */
export function makePods({ store, keys, clock }: Ground) {
  return async function pods(fleet: string, cursor: string | undefined, limit: number): Promise<PodsAnswer> {
    const now = await clock.now();
    const args = { now, after: cursor === undefined ? "" : decodeCursor(cursor), limit };
    const [entries, more] = await store.run(scripts.pods, { keys: keys.fleet(fleet), args });
    const last = entries.at(-1);
    return {
      pods: entries.map((entry) => podOf(entry, now)),
      next: more && last ? btoa(last[0]) : null,
    };
  };
}

function podOf([field, record, members, leases]: Entry, now: number): Pod {
  const [cluster = "", pod = ""] = field.split("/");
  const held = pairs(leases).map(([id, deadline]) => {
    const lease = parseLease(id);
    const task = lease?.task ? { task: lease.task.id } : {};
    return { id, class: lease?.class ?? "", expires_in_ms: Math.max(0, deadline - now), ...task };
  });
  const beats = pairs(members);
  const [first] = beats;
  const [kind, , , seen] = first?.[0].split("/") ?? [];
  const instance = seen ?? (held[0] && parseLease(held[0].id)?.instance) ?? "";
  const [, recordInstance, , ...labels] = record.split("/");
  return {
    cluster,
    pod,
    instance: instance || null,
    slots: beats.length,
    state: STATE[kind as keyof typeof STATE] ?? "silent",
    labels: seen === recordInstance ? parseLabels(labels.join("/")) : {},
    expires_in_ms: Math.max(0, ...beats.map(([, deadline]) => deadline - now)),
    leases: held,
  };
}

function pairs(flat: readonly (string | number)[]): [string, number][] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [String(flat[at * 2]), Number(flat[at * 2 + 1])]);
}

function parseLabels(text: string): Record<string, string> {
  try {
    return JSON.parse(text) as Record<string, string>;
  } catch {
    return {};
  }
}

function decodeCursor(cursor: string): string {
  try {
    const field = atob(cursor);
    if (/^[\w.-]+\/[\w.-]+$/.test(field)) return field;
  } catch {}
  throw Problem.field("cursor", "is not one that this call gave");
}
