import { inject } from "vitest";

/** Ways in which the store before a World misbehaves; `test/support/fault-proxy.ts` has what each does. */
export const FAULTS = [
  "hang",
  "refuse",
  "drop",
  "lose",
  "cut",
  "truncated",
  "html",
  "html502",
  "quota400",
  "quota429",
  "error500",
  "oom",
  "wrongtype",
  "noscript",
  "empty",
  "null",
  "arity",
] as const;

export type Fault =
  | (typeof FAULTS)[number]
  | "none"
  | "short"
  | "forgetful"
  | "holdAnswer"
  | "holdRequest"
  | "strict";

/** The last part of a key's name: only requests that name such a key meet the fault. */
export type FaultyKey =
  | "adapting"
  | "bucket"
  | "members"
  | "pods"
  | "policy"
  | "drain"
  | "timers"
  | `task:${string}`;

export type FaultLane = ReturnType<typeof faultLane>;

/** A lane of its own through the fault proxy: the store's URL, and what the lane tells and does. */
export function faultLane(fault: Fault, suffix?: FaultyKey) {
  const lane = crypto.randomUUID();
  const ask = async (question: string) =>
    Number(await (await fetch(`${inject("faultUrl")}/-/${question}/${lane}`)).text());
  return {
    storeUrl: `${inject("faultUrl")}/${fault}${suffix ? `@${encodeURIComponent(suffix)}` : ""}/${lane}`,
    /** Requests that met the fault so far. */
    seen: () => ask("seen"),
    /** Waits until a request is held. */
    held: () => ask("held"),
    letGo: () => ask("let-go"),
  };
}
