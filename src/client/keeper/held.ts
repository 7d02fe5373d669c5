/** A lease to be renewed; `deadline` is on the monotonic clock, in milliseconds. */
export interface HeldLease {
  id: string;
  ttlMs: number;
  deadline: number;
}

/** The leases of one pod and their deadlines; knows no time and sends nothing. */
export interface HeldLeases {
  add(lease: HeldLease): void;
  /** Forgets a lease; false if it was not held. */
  drop(id: string): boolean;
  /** Counts the ttl of those still held from the moment the renewal was sent. */
  renewed(ids: readonly string[], sentAt: number): void;
  /** Forgets and gives the ids of leases whose deadline has passed. */
  takeLapsed(now: number): string[];
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
      held.set(lease.id, { ...lease });
    },
    drop: (id) => held.delete(id),
    renewed: (ids, sentAt) => {
      for (const id of ids) {
        const lease = held.get(id);
        if (lease !== undefined) lease.deadline = Math.max(lease.deadline, sentAt + lease.ttlMs);
      }
    },
    takeLapsed: (now) => {
      const lapsed = [...held.values()].filter((lease) => lease.deadline <= now).map((lease) => lease.id);
      for (const id of lapsed) held.delete(id);
      return lapsed;
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
