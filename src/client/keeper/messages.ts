import type { LossReason } from "../errors.ts";
import type { BeaterStart, BeatState } from "./beater.ts";
import type { HeldLease } from "./held.ts";
import type { BeatBody } from "./types.ts";

/** What the main thread tells the keeper's thread. Times are on the monotonic clock, which both share. */
export type ToThread =
  | { type: "hold"; lease: HeldLease }
  | { type: "drop"; id: string }
  | { type: "state"; state: BeatState }
  | { type: "stop" };

/** What the keeper's thread tells the main thread. */
export type FromThread =
  | { type: "ready" }
  | { type: "lost"; id: string; reason: LossReason }
  | { type: "directive"; directive: "run" | "drain" }
  | { type: "replaced" }
  | { type: "failed"; message: string; failures: number }
  | { type: "stopped" };

/** What the keeper's thread starts with. */
export interface ThreadData<Port> {
  port: Port;
  url: string;
  key: string;
  fleet: string;
  body: BeatBody;
  start: BeaterStart;
}
