import { beatDelayMs, shorten } from "../backoff.ts";
import { monotonicMs } from "../clock.ts";
import { type LossReason, ProblemError, UnavailableError } from "../errors.ts";
import { later } from "../timers.ts";
import { createHeldLeases, type HeldLease } from "./held.ts";

/** The most leases one beat may renew. */
const LEASES_A_BEAT = 100;
const SHORTEST_PACE_MS = 50;
/** The pace in milliseconds until the coordinator has said its own. */
const UNTOLD_PACE_MS = 10_000;

/** The state a beat announces. */
export type BeatState = "ready" | "starting" | "draining";

/** What the beater hears of one beat. */
export interface BeatAnswer {
  next_heartbeat_ms: number;
  directive: "run" | "drain";
  lost: string[];
}

/** Sends one beat, once, within `timeoutMs`. */
export type SendBeat = (state: BeatState, leases: string[], timeoutMs: number) => Promise<BeatAnswer>;

/** Beats for one pod and renews its leases, until stopped. */
export interface Beater {
  hold(lease: HeldLease): void;
  drop(id: string): void;
  setState(state: BeatState): void;
  /** Judges the deadlines by the clock of this moment. */
  check(): void;
  /** No beat is sent after this is called; resolves when one in flight has ended. */
  stop(): Promise<void>;
}

/** What a beater tells; each is called in a turn of its own making and must not throw. */
export interface BeaterEvents {
  lost(id: string, reason: LossReason): void;
  directive(directive: "run" | "drain"): void;
  replaced(): void;
  failed(error: unknown, failures: number): void;
  /** The beats ended by themselves (a thread that died); none will follow. */
  stopped(error: unknown): void;
}

/** How a beater starts: the state, and the last answer with the time its beat was sent (absent: none yet). */
export interface BeaterStart {
  state: BeatState;
  timeoutMs: number;
  first?: { nextHeartbeatMs: number; sentAt: number };
}

/** Starts beating. The pace is the coordinator's, but never slower than a third of the shortest held ttl. */
export function createBeater(send: SendBeat, start: BeaterStart, events: BeaterEvents): Beater {
  const held = createHeldLeases();
  let state = start.state;
  let told = start.first?.nextHeartbeatMs ?? UNTOLD_PACE_MS;
  let failures = start.first === undefined ? 1 : 0;
  let dueAt =
    start.first === undefined
      ? monotonicMs() + beatDelayMs(1, undefined, told)
      : start.first.sentAt + shorten(pace());
  let round: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let cancel = () => {};

  function pace(): number {
    return Math.max(SHORTEST_PACE_MS, Math.min(told, held.shortestTtlMs() / 3));
  }

  function check(): void {
    for (const { id, reason } of held.takeLapsed(monotonicMs())) events.lost(id, reason);
  }

  function forgetAll(): void {
    held.takeLapsed(Number.POSITIVE_INFINITY);
  }

  function arm(): void {
    cancel();
    const beatAt = stopped || round !== undefined ? Number.POSITIVE_INFINITY : dueAt;
    const wakeAt = Math.min(beatAt, held.nextDeadline());
    cancel = wakeAt === Number.POSITIVE_INFINITY ? () => {} : later(wakeAt - monotonicMs(), wake);
  }

  function wake(): void {
    // After a suspension both are overdue: what has lapsed must not be renewed first.
    check();
    if (!stopped && round === undefined && monotonicMs() >= dueAt) {
      round = beat().finally(() => {
        round = undefined;
        arm();
      });
    }
    arm();
  }

  async function beat(): Promise<void> {
    again = false;
    const startedAt = monotonicMs();
    try {
      for (const ids of held.groups(LEASES_A_BEAT)) {
        await renew(ids);
        if (stopped) return;
      }
      failures = 0;
      dueAt = again ? monotonicMs() : startedAt + shorten(pace());
    } catch (error) {
      failed(error);
    }
  }

  async function renew(ids: string[]): Promise<void> {
    const sentAt = monotonicMs();
    // Half the ttl: slow answers still count, and a beat that hangs leaves time for another.
    const answer = await send(state, ids, Math.min(start.timeoutMs, 1.5 * pace()));
    told = answer.next_heartbeat_ms;
    held.renewed(ids, sentAt);
    check();
    // One that is no longer held was released while the beat was under way, or its loss has just been told.
    for (const id of answer.lost) if (held.drop(id)) events.lost(id, "told");
    events.directive(answer.directive);
  }

  function failed(error: unknown): void {
    check();
    if (error instanceof ProblemError && error.code === "stale-instance") {
      stopped = true;
      forgetAll();
      events.replaced();
      return;
    }
    failures++;
    const hintMs =
      error instanceof UnavailableError || error instanceof ProblemError ? error.retryAfterMs : undefined;
    dueAt = monotonicMs() + beatDelayMs(failures, hintMs, pace());
    events.failed(error, failures);
  }

  arm();
  return {
    hold: (lease) => {
      held.add(lease);
      // While beats fail, the next one is near enough, and a new lease must not hasten it.
      if (failures === 0) dueAt = Math.min(dueAt, lease.deadline - lease.ttlMs + shorten(lease.ttlMs / 3));
      arm();
    },
    drop: (id) => {
      held.drop(id);
      arm();
    },
    setState: (next) => {
      state = next;
      again = true;
      if (failures === 0) dueAt = monotonicMs();
      arm();
    },
    check: () => {
      check();
      arm();
    },
    stop: async () => {
      stopped = true;
      await round;
      forgetAll();
      arm();
    },
  };
}
