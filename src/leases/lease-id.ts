/** Who holds a lease. An absent instance is the empty text, the oldest. */
export interface Holder {
  cluster: string;
  pod: string;
  instance: string;
}

/** What every lease id says: its holder, the class recorded at the grant, and its own ttl. */
export interface Lease extends Holder {
  class: string;
  ttl_ms: number;
  /** Only of a task's lease: what it delivers, when it was claimed and when renewing ends (epoch ms). */
  task?: { queue: string; id: string; deadline_at: number; claimed_at: number };
}

/** The member of a fleet's set that is a slot's lease: the same parts give the same id, so acquiring is repeatable. */
export function slotLeaseId(lease: Omit<Lease, "task">, request: string): string {
  const { cluster, pod, instance } = lease;
  return ["l", cluster, pod, instance, lease.class, lease.ttl_ms, request].join("/");
}

/**
 * The member that tells under which ttl a request was granted its lease, where the caller gave none: isolates may take
 * different ttls for the fleet's default while a policy changes, and a retry must find the lease all the same.
 */
export function slotRequest(
  { cluster, pod, instance, class: name }: Holder & { class: string },
  request: string,
) {
  return ["r", cluster, pod, instance, name, request].join("/");
}

/**
 * Reads an id back; undefined for a text that we never made. A slot's is l/cluster/pod/instance/class/ttl/request,
 * a task's t/cluster/pod/instance/class/ttl/queue/deadline/claimed/turn/id/… (src/queues/task.lua).
 */
export function parseLease(id: string): Lease | undefined {
  const [kind, cluster, pod, instance, className, ttl, ...rest] = id.split("/");
  if (!cluster || !pod || instance === undefined || !className || !/^[1-9]\d{3,7}$/.test(ttl ?? ""))
    return undefined;
  const lease = { cluster, pod, instance, class: className, ttl_ms: Number(ttl) };
  if (kind === "l") return rest.length === 1 && rest[0] ? lease : undefined;
  const [queue, deadline, claimed, , taskId] = rest;
  const times = { deadline_at: Number(deadline), claimed_at: Number(claimed) };
  const isTask = kind === "t" && rest.length === 18 && queue && taskId;
  if (!isTask || !Object.values(times).every(Number.isSafeInteger)) return undefined;
  return { ...lease, task: { queue, id: taskId, ...times } };
}

/** True when the lease was taken by this cluster, pod and instance. */
export function isHeldBy(lease: Holder, holder: Holder): boolean {
  return lease.cluster === holder.cluster && lease.pod === holder.pod && lease.instance === holder.instance;
}

/** When the lease would lapse if renewed at `now` (epoch ms): a task's never after its deadline. */
export function renewedUntil(lease: Lease, now: number): number {
  return Math.min(now + lease.ttl_ms, lease.task?.deadline_at ?? Number.POSITIVE_INFINITY);
}
