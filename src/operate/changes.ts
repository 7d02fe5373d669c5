import { capacityOf } from "../leases/capacity.ts";
import { policyOf } from "../leases/configuration.ts";
import { parseLease } from "../leases/lease-id.ts";

/** A pod as a picture shows it; `members` is how many slots it counts for. */
export interface PodSeen {
  cluster: string;
  pod: string;
  instance: string;
  state: "ready" | "starting" | "draining";
  slots: number;
  member: string;
}

/** A fleet at one moment (epoch ms). Without `pods` where there are too many to compare. */
export interface Picture {
  fleet: string;
  at: number;
  live: number;
  busy: number;
  capacity: number;
  policy: string;
  pods: Map<string, PodSeen> | undefined;
}

/** Something that happened to a fleet, by its name on the wire. */
export interface FleetEvent {
  event: "snapshot" | "joined" | "left" | "lapsed" | "replaced" | "full" | "freed" | "policy";
  data: Record<string, unknown>;
}

const STATE = { p: "ready", s: "starting", d: "draining" } as const;

/** The picture in what was read; members are kind/cluster/pod/instance/slot. */
export function pictureOf(
  fleet: string,
  at: number,
  [live, busy, policy, members, , more]: readonly [number, number, string, string[], string[], number],
): Picture {
  const pods = new Map<string, PodSeen>();
  for (const member of members) {
    const [kind = "", cluster = "", pod = "", instance = ""] = member.split("/");
    const state = STATE[kind as keyof typeof STATE];
    const seen = pods.get(`${cluster}/${pod}`);
    if (seen) seen.slots += 1;
    else pods.set(`${cluster}/${pod}`, { cluster, pod, instance, state, slots: 1, member });
  }
  const capacity = capacityOf(live, policyOf(fleet, policy).classes.normal?.ratio ?? 1);
  return { fleet, at, live, busy, capacity, policy, pods: more ? undefined : pods };
}

/** The pods of one picture that another lacks. */
export function goneBetween(before: Picture, after: Picture): PodSeen[] {
  if (!before.pods || !after.pods) return [];
  return [...before.pods].flatMap(([name, pod]) => (after.pods?.has(name) ? [] : [pod]));
}

/** What happened between two pictures; `ends` tells of each pod that is gone how it went. */
export function eventsBetween(
  before: Picture,
  after: Picture,
  ends: readonly { pod: PodSeen; event: "left" | "lapsed" }[],
  lapsed: readonly string[],
): FleetEvent[] {
  const events: FleetEvent[] = ends.map(({ pod, event }) => ({ event, data: podData(pod) }));
  for (const lease of lapsed) events.push({ event: "lapsed", data: leaseData(lease) });
  for (const [name, pod] of before.pods ? (after.pods ?? []) : []) {
    const former = before.pods?.get(name);
    if (former && former.instance !== pod.instance) {
      events.push({ event: "replaced", data: { ...podData(pod), before: former.instance || null } });
    } else if (!former || former.state !== pod.state) {
      events.push({ event: "joined", data: podData(pod) });
    }
  }
  if (before.policy !== after.policy)
    events.push({ event: "policy", data: { policy: policyOf(after.fleet, after.policy) } });
  if (isFull(after) !== isFull(before)) {
    events.push({ event: isFull(after) ? "full" : "freed", data: counts(after) });
  }
  return events;
}

/** Where a stream begins when it cannot go on from an earlier one. */
export const snapshotOf = (picture: Picture): FleetEvent => ({
  event: "snapshot",
  data: { ...counts(picture), full: isFull(picture), pods: picture.pods?.size ?? null },
});

const isFull = ({ busy, capacity }: Picture) => busy >= capacity;
const counts = ({ live, busy, capacity }: Picture) => ({ live, busy, capacity });

function podData({ cluster, pod, instance, state, slots }: PodSeen) {
  return { cluster, pod, instance: instance || null, state, slots };
}

function leaseData(id: string) {
  const { cluster, pod, instance, class: className } = parseLease(id) ?? {};
  return { cluster, pod, instance: instance || null, lease: id, class: className };
}
