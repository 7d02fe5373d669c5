import type { StatusAnswer } from "../fleets/schema.ts";

type Counts = { live: number; busy: number; capacity: number };
type PodSeen = {
  cluster: string;
  pod: string;
  instance: string | null;
  state: "ready" | "starting" | "draining";
  slots: number;
};
type LeaseSeen = { cluster: string; pod: string; instance: string | null; lease: string; class: string };

/** Something that happened to a fleet: the event's name and its data as one; `at` in epoch milliseconds of Redis's clock. */
export type FleetEvent = { at: number } & (
  | ({ event: "snapshot"; full: boolean; pods: number | null } & Counts)
  | ({ event: "joined" | "left" | "lapsed" } & PodSeen)
  | ({ event: "replaced"; before: string | null } & PodSeen)
  | ({ event: "lapsed" } & LeaseSeen)
  | ({ event: "full" | "freed" } & Counts)
  | { event: "policy"; policy: StatusAnswer["policy"] }
);
