import type { Clock } from "../redis/clock.ts";
import { BoundedMap } from "../redis/memory.ts";

/** That there was no slot, and what was counted where it was. */
export interface Denial {
  counts?: { live: number; busy: number; capacity: number };
}

/** One call over all its polls. */
export interface Inquiry {
  /** What tells its request from others', where the caller named it. */
  readonly request: string | undefined;
  /** Whether the store has said in this call that the request holds nothing. */
  isDenied?: boolean;
}

/**
 * The isolate's memory of denials: it only ever says no, for 200 ms, and never after a change it has seen. A gate is
 * what is asked: a class of the fleet, or a queue's claims.
 */
export interface Denials {
  /** Taken before asking the store; what it answers is not remembered when the epoch has moved by then. */
  epoch(fleet: string, gate: string): string;
  remember(fleet: string, gate: string, denial: Denial, epoch: string): void;
  /**
   * A denial that may be answered again; to a request that has a name only while it surely holds nothing: it was denied in
   * this call, or within 10 s and not granted since.
   */
  recall(fleet: string, gate: string, inquiry: Inquiry): Denial | undefined;
  /** Asks the store, and remembers whether the request was denied. */
  asking<R>(
    fleet: string,
    inquiry: Inquiry,
    ask: () => Promise<R>,
    isDenied: (reply: R) => boolean,
  ): Promise<R>;
  /** Something changed that may open one gate, or all gates of the fleet. */
  forget(fleet: string, gate?: string): void;
}

/** The gate of a queue's claims; no class is called so, since names have no slash. */
export const claimGate = (queue: string) => `claim/${queue}`;

const DENIAL_MS = 200;
const REQUEST_MS = 10_000;
/** Of a request that was granted, or whose answer was lost: what comes late must not undo it. */
const MAY_HOLD = 0;

export function makeDenials(clock: Clock): Denials {
  const epochs = new BoundedMap<string, number>(4_000);
  const denials = new BoundedMap<string, { denial: Denial; epoch: string; until: number }>(4_000);
  const denied = new BoundedMap<string, number>(20_000);
  let latest = 0;

  const epoch = (fleet: string, gate: string) =>
    `${epochs.get(fleet) ?? 0}/${epochs.get(`${fleet}/${gate}`) ?? 0}`;
  return {
    epoch,
    remember(fleet, gate, denial, asked) {
      if (epoch(fleet, gate) !== asked) return;
      denials.set(`${fleet}/${gate}`, { denial, epoch: asked, until: clock.local() + DENIAL_MS });
    },
    recall(fleet, gate, { request, isDenied }) {
      const isSafe =
        request === undefined || isDenied || clock.local() < (denied.get(`${fleet}/${request}`) ?? MAY_HOLD);
      if (!isSafe) return undefined;
      const known = denials.get(`${fleet}/${gate}`);
      if (!known || known.epoch !== epoch(fleet, gate) || clock.local() >= known.until) return undefined;
      return known.denial;
    },
    async asking(fleet, inquiry, ask, isDenied) {
      const { request } = inquiry;
      if (request === undefined) return ask();
      const key = `${fleet}/${request}`;
      // The answer may never come: a runtime drops what a caller that hung up had asked.
      if (denied.get(key) !== MAY_HOLD) denied.delete(key);
      inquiry.isDenied = false;
      let until = MAY_HOLD;
      try {
        const reply = await ask();
        inquiry.isDenied = isDenied(reply);
        if (inquiry.isDenied) until = clock.local() + REQUEST_MS;
        return reply;
      } finally {
        if (denied.get(key) !== MAY_HOLD) denied.set(key, until);
      }
    },
    forget(fleet, gate) {
      // One counter for all: a forgotten entry never comes back under a number already used.
      latest += 1;
      epochs.set(gate === undefined ? fleet : `${fleet}/${gate}`, latest);
    },
  };
}
