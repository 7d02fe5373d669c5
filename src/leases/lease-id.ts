/** Who holds a lease. An absent instance is the empty text, the oldest. */
export interface Holder {
  cluster: string;
  pod: string;
  instance: string;
}

/** What a slot's lease id says: its holder, the class recorded at the grant, its own ttl, and the request. */
export interface Lease extends Holder {
  class: string;
  ttl_ms: number;
  request: string;
}

/** The member of a fleet's set that is this lease; the same parts give the same id, so acquiring is repeatable. */
export function leaseId(lease: Lease): string {
  const { cluster, pod, instance, request } = lease;
  return ["l", cluster, pod, instance, lease.class, lease.ttl_ms, request].join("/");
}

/** Reads an id back; undefined for a text that we never made. */
export function parseLeaseId(id: string): Lease | undefined {
  const [kind, cluster, pod, instance, className, ttl, request, ...more] = id.split("/");
  if (kind !== "l" || !cluster || !pod || instance === undefined || !className || !request) return undefined;
  if (more.length > 0 || !/^[1-9]\d{3,7}$/.test(ttl ?? "")) return undefined;
  return { cluster, pod, instance, class: className, ttl_ms: Number(ttl), request };
}

/** True when the lease was taken by this cluster, pod and instance. */
export function isHeldBy(lease: Lease, holder: Holder): boolean {
  return lease.cluster === holder.cluster && lease.pod === holder.pod && lease.instance === holder.instance;
}
