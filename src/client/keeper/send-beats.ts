import type { FleetCalls } from "../fleet-calls.ts";
import type { SendBeat } from "./beater.ts";
import type { BeatBody } from "./types.ts";

/** How a pod's beats are sent: each once, since the beater itself tries again. */
export function sendBeats(calls: FleetCalls, body: BeatBody): SendBeat {
  return (state, leases, timeoutMs) =>
    calls.heartbeat({ ...body, state, leases }, { retry: false, timeoutMs });
}
