import type { Stamped } from "./journal.ts";

/** A call as it goes out; `call` numbers the calls of one process. */
export interface Sent {
  event: "sent";
  call: number;
  what: string;
  request?: string;
  state?: string;
  leases?: string[];
}

/** What the coordinator said to a call, as far as the verdict needs it. */
export interface Answered {
  event: "answered";
  call: number;
  what: string;
  status: number;
  granted?: boolean;
  lease?: { id: string; ttl_ms: number; expires_at: number };
  live?: number;
  busy?: number;
  capacity?: number;
  lost?: string[];
}

/** What a pod of the demo writes down of itself. */
export type PodLine =
  | Sent
  | Answered
  | { event: "unanswered"; call: number; what: string; why: string }
  | { event: "started"; cluster: string; pod: string; pid: number }
  | { event: "granted"; lease: string | null; class: string; degraded: boolean }
  | { event: "refused"; class: string; why: string }
  | { event: "lost"; lease: string | null; why: string }
  | { event: "releasing"; lease: string | null }
  | { event: "released"; lease: string | null; how: string }
  | { event: "closing"; why: string }
  | { event: "left"; how: string };

/** One line of a pod with its times. */
export type PodEntry = Stamped<PodLine>;

/** What one process of the demo wrote, and when it was killed (absent: never). */
export interface Trail<Entry> {
  cluster: string;
  name: string;
  file: string;
  killedAt?: number;
  entries: Entry[];
}
