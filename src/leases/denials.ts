import type { Clock } from "../redis/clock.ts";
import { BoundedMap } from "../redis/memory.ts";

/** What was counted when a class was refused. */
export interface Denial {
  live: number;
  busy: number;
  capacity: number;
}

/** The isolate's memory of denials: it only ever says no, for 200 ms, and never after a change it has seen. */
export interface Denials {
  /** Taken before asking the store; a denial is not remembered when the epoch has moved by then. */
  epoch(fleet: string): number;
  remember(fleet: string, className: string, lease: string, denial: Denial, epoch: number): void;
  /** A denial that may be answered again; `lease` is asked of the store unless it was itself heard denied here. */
  recall(fleet: string, className: string, lease: string | undefined): Denial | undefined;
  /** Something changed that may free a slot. */
  forget(fleet: string): void;
}

const DENIAL_MS = 200;
const HEARD_MS = 10_000;

export function makeDenials(clock: Clock): Denials {
  const epochs = new BoundedMap<string, number>(2_000);
  const denials = new BoundedMap<string, { denial: Denial; epoch: number; until: number }>(4_000);
  const heard = new BoundedMap<string, number>(20_000);
  let latest = 0;

  const epoch = (fleet: string) => epochs.get(fleet) ?? 0;
  return {
    epoch,
    remember(fleet, className, lease, denial, asked) {
      heard.set(`${fleet}/${lease}`, clock.local() + HEARD_MS);
      if (epoch(fleet) !== asked) return;
      denials.set(`${fleet}/${className}`, { denial, epoch: asked, until: clock.local() + DENIAL_MS });
    },
    recall(fleet, className, lease) {
      const known = denials.get(`${fleet}/${className}`);
      if (!known || known.epoch !== epoch(fleet) || clock.local() >= known.until) return undefined;
      if (lease !== undefined && clock.local() >= (heard.get(`${fleet}/${lease}`) ?? 0)) return undefined;
      return known.denial;
    },
    forget(fleet) {
      // One counter for all fleets: a forgotten entry never comes back under a number already used.
      latest += 1;
      epochs.set(fleet, latest);
    },
  };
}
