import type { LossReason } from "../errors.ts";

/** A lease to be renewed; `deadline` is on the monotonic clock, in milliseconds. */
export interface HeldLease {
  id: string;
  ttlMs: number;
  deadline: number;
  /** Where it ends for good, however often it is renewed; a task's does. */
  until?: number;
}

/** The same lease, its ttl counted from the moment a renewal was sent. */
export function renewed(lease: HeldLease, sentAt: number): HeldLease {
  const deadline = Math.max(lease.deadline, sentAt + lease.ttlMs);
  return { ...lease, deadline: Math.min(deadline, endOf(lease)) };
}

const endOf = ({ until = Number.POSITIVE_INFINITY }: HeldLease) => until;

/** The leases of one pod and their deadlines; knows no time and sends nothing. */
export interface HeldLeases {
  add(lease: HeldLease): void;
  /** Forgets a lease; false if it was not held. */
  drop(id: string): boolean;
  /** Counts the ttl of those still held from the moment the renewal was sent. */
  renewed(ids: readonly string[], sentAt: number): void;
  /** Forgets the leases whose deadline has passed, and gives each id with the reason of its loss. */
  takeLapsed(now: number): { id: string; reason: LossReason }[];
  /** Ids in groups of at most `size`, the most urgent first; one empty group when there are none. */
  groups(size: number): string[][];
  /** The earliest deadline, Infinity when there is none. */
  nextDeadline(): number;
  /** The shortest ttl in milliseconds, Infinity when there is none. */
  shortestTtlMs(): number;
}

/** Makes an empty book of leases. */
export function createHeldLeases(): HeldLeases {
  const held = new Map<string, HeldLease>();
  return {
    add: (lease) => {
      held.set(lease.id, { ...lease, deadline: Math.min(lease.deadline, endOf(lease)) });
    },
    drop: (id) => held.delete(id),
    renewed: (ids, sentAt) => {
      for (const id of ids) {
        const lease = held.get(id);
        if (lease !== undefined) held.set(id, renewed(lease, sentAt));
      }
    },
    takeLapsed: (now) => {
      const lapsed = [...held.values()].filter((lease) => lease.deadline <= now);
      for (const { id } of lapsed) held.delete(id);
      return lapsed.map((lease) => ({
        id: lease.id,
        reason: endOf(lease) <= now ? "time_limit" : "silence",
      }));
    },
    groups: (size) => {
      const ids = [...held.values()].sort((a, b) => a.deadline - b.deadline).map((lease) => lease.id);
      const groups = [ids.slice(0, size)];
      for (let at = size; at < ids.length; at += size) groups.push(ids.slice(at, at + size));
      return groups;
    },
    nextDeadline: () => least([...held.values()].map((lease) => lease.deadline)),
    shortestTtlMs: () => least([...held.values()].map((lease) => lease.ttlMs)),
  };
}

function least(numbers: number[]): number {
  return numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}
