import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import { parseLease } from "./lease-id.ts";
import type { Tallies } from "./tallies.ts";

/** Keeps account of what a fleet's gate answered, in the isolate's tallies. */
export interface Ledger {
  /** Leases were granted; a repeat of one this isolate granted counts once. */
  granted(fleet: string, leases: readonly string[]): void;
  denied(fleet: string, reason: DenialReason): void;
  /** A call that was ready to wait did so for this long, whatever the answer. */
  waited(fleet: string, ms: number): void;
  /** Leases were ended by a call. */
  ended(fleet: string, leases: readonly string[]): void;
}

/** Why a fleet's gate said no. */
export const DENIAL_REASONS = ["at_capacity", "rate_limited", "paused"] as const;
export type DenialReason = (typeof DENIAL_REASONS)[number];

/** Upper bounds of the held-time buckets, in ms. */
export const HELD_BOUNDS_MS = [
  1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000,
] as const;

/** The fields of a fleet's totals. */
export const FIELDS = {
  grants: "grants",
  denials: (reason: DenialReason) => `denials/${reason}`,
  waits: "waits",
  waitedMs: "waited_ms",
  held: (place: number) => `held/${HELD_BOUNDS_MS[place] ?? "more"}`,
  heldMs: "held_ms",
} as const;

const REMEMBERED = 20_000;

export function makeLedger({ keys, clock }: Ground, tallies: Tallies): Ledger {
  const grantedAt = new BoundedMap<string, number>(REMEMBERED);
  const account = (fleet: string) => keys.fleet(fleet).history;

  function startOf(lease: string): number | undefined {
    return parseLease(lease)?.task?.claimed_at ?? grantedAt.get(lease);
  }

  return {
    granted(fleet, leases) {
      for (const lease of leases) {
        if (grantedAt.get(lease) !== undefined) continue;
        grantedAt.set(lease, clock.local());
        tallies.add(account(fleet), FIELDS.grants);
      }
    },

    denied(fleet, reason) {
      tallies.add(account(fleet), FIELDS.denials(reason));
    },

    waited(fleet, ms) {
      tallies.add(account(fleet), FIELDS.waits);
      tallies.add(account(fleet), FIELDS.waitedMs, ms);
    },

    ended(fleet, leases) {
      for (const lease of leases) {
        const start = startOf(lease);
        if (start === undefined) continue;
        const held = Math.max(0, clock.local() - start);
        const place = HELD_BOUNDS_MS.findIndex((bound) => held <= bound);
        tallies.add(account(fleet), FIELDS.held(place < 0 ? HELD_BOUNDS_MS.length : place));
        tallies.add(account(fleet), FIELDS.heldMs, held);
      }
    },
  };
}
