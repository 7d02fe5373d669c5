/** Leases in memory, on the clock of this process. */
export interface FakeLeases {
  /** `until` is where it ends for good, by `performance.now()`. */
  grant(id: string, ttlMs: number, until?: number): void;
  has(id: string): boolean;
  live(id: string): boolean;
  renew(id: string): void;
  /** Ends one; false if it had ended before. */
  end(id: string): boolean;
  all(): string[];
}

/** Makes an empty book of leases. */
export function createFakeLeases(): FakeLeases {
  const leases = new Map<string, { ttlMs: number; until: number; deadline: number }>();
  const live = (id: string) => (leases.get(id)?.deadline ?? 0) > performance.now();
  const grant = (id: string, ttlMs: number, until = Number.POSITIVE_INFINITY) => {
    leases.set(id, { ttlMs, until, deadline: Math.min(performance.now() + ttlMs, until) });
  };
  return {
    grant,
    live,
    has: (id) => leases.has(id),
    renew: (id) => {
      if (live(id)) grant(id, leases.get(id)?.ttlMs ?? 0, leases.get(id)?.until);
    },
    end: (id) => {
      const was = live(id);
      const lease = leases.get(id);
      if (lease !== undefined) lease.deadline = 0;
      return was;
    },
    all: () => [...leases.keys()],
  };
}
