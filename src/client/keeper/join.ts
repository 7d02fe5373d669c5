import type { FleetCalls } from "../fleet-calls.ts";
import { processInstance } from "../ids.ts";
import { duration, type Settings } from "../options.ts";
import { type BeaterStart, createBeater } from "./beater.ts";
import { firstBeat, leaveUnmade } from "./first-beat.ts";
import { createPod } from "./pod.ts";
import { sendBeats } from "./send-beats.ts";
import { leaveOnSigterm } from "./shutdown.ts";
import type { BeatBody, JoinOptions, Pod } from "./types.ts";

/** Which fleet is joined, and how it is reached. */
export interface Joining {
  calls: FleetCalls;
  settings: Settings;
  fleet: string;
}

/**
 * Sends the first beat, then starts the keeper; throws ProblemError, UnsupportedError, the signal's reason, or
 * UnavailableError when closed. From the call on SIGTERM ends the pod, unless that is turned off.
 */
export function join(joining: Joining, options: JoinOptions): Promise<Pod> {
  let stopListening = () => {};
  const joined = begin(joining, options, () => stopListening());
  if (options.handleSignals !== false) stopListening = leaveOnSigterm(joined, options);
  return joined;
}

async function begin(joining: Joining, options: JoinOptions, onLeft: () => void): Promise<Pod> {
  const { calls, settings } = joining;
  const { signal } = options;
  const onUnavailable = options.onUnavailable ?? settings.onUnavailable;
  const unavailableAfterMs = duration("unavailableAfterMs", options.unavailableAfterMs ?? 3_000);
  if (options.graceMs !== undefined) duration("graceMs", options.graceMs);
  const thread = options.thread ? await threadFor(settings) : undefined;

  const body = bodyOf(options);
  const state = options.state ?? "ready";
  const first = await firstBeat({ calls, body, state, onUnavailable, unavailableAfterMs, signal });
  const start: BeaterStart = { state, timeoutMs: settings.timeoutMs, ...(first && { first }) };
  let ready: Promise<void> | undefined;
  let pod: Pod | undefined;
  try {
    pod = createPod({
      calls,
      body,
      state,
      directive: first?.directive ?? "run",
      timeoutMs: settings.timeoutMs,
      onUnavailable,
      unavailableAfterMs,
      callbacks: options,
      onLeft,
      startBeater: (events) => {
        if (thread === undefined) return createBeater(sendBeats(calls, body), start, events);
        const { url, key } = settings;
        const threaded = thread({ url, key, fleet: joining.fleet, body, start }, events);
        ready = threaded.ready;
        return threaded.beater;
      },
    });
    await ready;
    signal?.throwIfAborted();
    return pod;
  } catch (error) {
    await (pod === undefined ? leaveUnmade(calls, body) : pod.leave());
    throw error;
  }
}

function bodyOf({ cluster, pod, instance, slots, labels }: JoinOptions): BeatBody {
  return {
    cluster,
    pod,
    instance: instance ?? processInstance(),
    ...(slots !== undefined && { slots }),
    ...(labels !== undefined && { labels }),
  };
}

/** How to start a thread here; throws UnsupportedError where there are none, before anything was sent. */
async function threadFor(settings: Settings) {
  if (settings.fetch !== undefined) throw new TypeError("thread: true cannot use the client's own fetch");
  const { startThread, workerThreads } = await import("./thread.ts");
  const threads = workerThreads();
  return (data: Parameters<typeof startThread>[1], events: Parameters<typeof startThread>[2]) =>
    startThread(threads, data, events);
}
