import { linked, unlessAborted } from "../abort.ts";
import { monotonicMs } from "../clock.ts";
import { type CloseReason, PodClosedError, ProblemError } from "../errors.ts";
import type { FleetCalls } from "../fleet-calls.ts";
import type { OnUnavailable } from "../options.ts";
import { waitForSlot } from "./acquire.ts";
import { createActivity } from "./activity.ts";
import type { Beater, BeaterEvents, BeatState } from "./beater.ts";
import type { Hold } from "./hold.ts";
import { type Inside, identityOf, setInside } from "./inside.ts";
import { createKeep } from "./keep.ts";
import { tell } from "./tell.ts";
import type { AcquireOptions, BeatBody, JoinOptions, Lease, LeaveOutcome, Pod, PodState } from "./types.ts";

/** What a pod is made of. */
export interface PodParts {
  calls: FleetCalls;
  body: BeatBody;
  timeoutMs: number;
  onUnavailable: OnUnavailable;
  unavailableAfterMs: number;
  callbacks: Pick<JoinOptions, "onDrain" | "onReplaced" | "onBeatError">;
  state: BeatState;
  /** What the first beat heard. */
  directive: "run" | "drain";
  startBeater(events: BeaterEvents): Beater;
  onLeft(): void;
}

/** Makes a pod and starts its beats. */
export function createPod(parts: PodParts): Pod {
  const { calls, callbacks } = parts;
  const identity = identityOf(parts.body);
  const leases = createActivity<Hold>();
  const asking = createActivity<Promise<unknown>>();
  const closing = new AbortController();
  const cut = new AbortController();
  let state: PodState = parts.state;
  let directive: "run" | "drain" = "run";
  let leaving: Promise<LeaveOutcome> | undefined;

  function close(reason: CloseReason): void {
    state = reason;
    closing.abort(new PodClosedError(reason));
  }

  function end(reason: "replaced" | "stopped"): void {
    close(reason);
    for (const hold of leases.all()) hold.lose(reason);
  }

  function replaced(): void {
    if (state === "replaced" || state === "left") return;
    end("replaced");
    tell(() => callbacks.onReplaced?.(pod));
  }

  function holdsOf(id: string): Hold[] {
    return leases.all().filter((hold) => hold.id === id);
  }

  const events: BeaterEvents = {
    lost: (id, reason) => {
      for (const hold of holdsOf(id)) hold.lose(reason);
    },
    directive: (next) => {
      const news = next !== directive;
      directive = next;
      if (news && next === "drain") tell(() => callbacks.onDrain?.(pod));
    },
    replaced,
    stopped: (error) => {
      end("stopped");
      tell(() => callbacks.onBeatError?.(error, 1));
    },
    failed: (error, failures) => tell(() => callbacks.onBeatError?.(error, failures)),
  };
  const beater = parts.startBeater(events);
  const keep = createKeep(calls, beater, leases);
  events.directive(parts.directive);

  function track(work: Promise<unknown>): void {
    const settled = work.then(
      () => {},
      () => {},
    );
    asking.add(settled);
    settled.then(() => asking.delete(settled));
  }

  async function acquire(options: AcquireOptions): Promise<Lease> {
    const ends = linked(closing.signal, options.signal);
    try {
      ends.signal.throwIfAborted();
      const grant = await waitForSlot(
        { ...parts, ...inside, holds: (id: string) => holdsOf(id).length > 0, renew: renewOne },
        options,
        ends.signal,
        track,
      );
      const lease = keep.lease(grant);
      if (!ends.signal.aborted) return lease;
      track(lease.release());
      throw ends.signal.reason;
    } catch (error) {
      if (error instanceof ProblemError && error.code === "stale-instance") replaced();
      throw error;
    } finally {
      ends.unlink();
    }
  }

  const inside: Inside = {
    identity,
    cut: cut.signal,
    track,
    replaced,
    hold: keep.hold,
    renew: async (leases, signal) => {
      const sentAt = monotonicMs();
      const said = beatState(state);
      const beat = calls.heartbeat({ ...parts.body, state: said, leases }, { retry: false });
      // Heard to its end, also by leaving: a beat that was cut may run later, and would count the pod again.
      const repaired = beat.finally(() => said !== beatState(state) && beater.setState(beatState(state)));
      track(repaired);
      const { lost } = await unlessAborted(beat, signal);
      return { sentAt, lost };
    },
  };

  async function renewOne(id: string, signal: AbortSignal): Promise<number | undefined> {
    const { sentAt, lost } = await inside.renew([id], signal);
    return lost.includes(id) ? undefined : sentAt;
  }

  async function leave(): Promise<LeaveOutcome> {
    const wasReplaced = state === "replaced";
    if (!wasReplaced) close("left");
    cut.abort();
    await asking.idle();
    await beater.stop();
    for (const hold of leases.all()) hold.lose("left");
    try {
      if (wasReplaced) return "replaced";
      await calls.leave(identity);
      return "left";
    } catch {
      return "unconfirmed";
    } finally {
      parts.onLeft();
    }
  }

  const pod: Pod = {
    ...identity,
    get state() {
      return state;
    },
    get directive() {
      return directive;
    },
    get held() {
      return leases.all().length;
    },
    closing: closing.signal,
    acquire: (options = {}) => {
      const lease = acquire(options);
      track(lease);
      return lease;
    },
    ready: () => {
      closing.signal.throwIfAborted();
      state = "ready";
      beater.setState("ready");
    },
    drain: async () => {
      if (!closing.signal.aborted) {
        close("draining");
        beater.setState("draining");
      }
      await leases.idle();
    },
    leave: () => {
      leaving ??= leave();
      return leaving;
    },
    [Symbol.asyncDispose]: async () => {
      await pod.leave();
    },
  };
  setInside(pod, inside);
  return pod;
}

function beatState(state: PodState): BeatState {
  return state === "ready" || state === "starting" ? state : "draining";
}
