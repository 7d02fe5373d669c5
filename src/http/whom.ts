/** A pod that a call speaks for; without `pod`, a whole cluster. */
export interface Whom {
  cluster: string;
  pod?: string | undefined;
}

/**
 * Whom a checked body speaks for: the pods it names, and the holders of the leases it names. These field names mean the
 * same in every call (PROTOCOL), so a call added later is held to this too.
 */
export function spokenFor(body: unknown, holderOf: (lease: string) => Whom | undefined): Whom[] {
  if (typeof body !== "object" || body === null) return [];
  const { cluster, pod, pods, lease, leases } = body as Record<string, unknown>;
  const whom: Whom[] = [];
  if (typeof cluster === "string") {
    const named = [pod, ...list(pods).map((one) => (one as { pod?: unknown }).pod)].filter(isText);
    for (const name of named) whom.push({ cluster, pod: name });
    if (named.length === 0) whom.push({ cluster });
  }
  const ids = [lease, ...list(leases)].filter(isText);
  return [...whom, ...ids.flatMap((id) => holderOf(id) ?? [])];
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isText = (value: unknown): value is string => typeof value === "string";
