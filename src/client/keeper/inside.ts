import type { HeldLease } from "./held.ts";
import type { Hold } from "./hold.ts";
import type { Identity, Pod } from "./types.ts";

/** What other parts of the client may do with a pod, and its users may not. */
export interface Inside {
  identity: Identity;
  /** Fires when calls under way may no longer go on. */
  cut: AbortSignal;
  /** Leaving waits until this has ended, one way or the other. */
  track(work: Promise<unknown>): void;
  /** Renews leases now; when that was sent on the monotonic clock, and which are lost. */
  renew(leases: string[], signal: AbortSignal): Promise<{ sentAt: number; lost: string[] }>;
  /** Renews a lease with every beat until it ends. */
  hold(lease: HeldLease): Hold;
  /** The coordinator said that a newer process took the pod's name. */
  replaced(): void;
}

/** Who a pod is, out of what each of its beats says. */
export function identityOf({ cluster, pod, instance }: Identity): Identity {
  return { cluster, pod, instance };
}

const insides = new WeakMap<Pod, Inside>();

/** Remembers a pod's inside. */
export function setInside(pod: Pod, inside: Inside): void {
  insides.set(pod, inside);
}

/** The inside of a pod; throws a TypeError for one that was not made by `join`. */
export function insideOf(pod: Pod): Inside {
  const inside = insides.get(pod);
  if (inside === undefined) throw new TypeError("pod must be a pod that join() gave");
  return inside;
}
