import fc from "fast-check";
import type { State } from "../support/model.ts";

/** Through which isolate: three that work, one whose answers are lost after the store did it, one that never gets there. */
export type Through = 0 | 1 | 2 | "drops" | "refuses";

export interface Beat {
  pod: number;
  instance: string;
  state: State;
  /** Which of the leases of this pod to list, and whether one of another's too. */
  renew: number;
  foreign: boolean;
}

export type Operation =
  | ({ kind: "beat"; through: Through } & Beat)
  | { kind: "batch"; through: Through; beats: Beat[] }
  | {
      kind: "acquire";
      through: Through;
      pod: number;
      instance: string;
      class: string;
      request: number | undefined;
      /** Sent once more, through another isolate: the first answer was lost. */
      again: Through | undefined;
    }
  | { kind: "release"; through: Through; picks: number[]; junk: boolean }
  | { kind: "leave"; through: Through; pod: number; instance: string }
  | {
      kind: "policy";
      through: 0 | 1 | 2;
      ratio: number;
      ttl_ms: number;
      lease_ttl_ms: number;
      paused: boolean;
    }
  | { kind: "advance"; ms: number }
  | { kind: "deadline"; pick: number; offset: number }
  | { kind: "purge" }
  | { kind: "wipe" };

const works = fc.constantFrom<(0 | 1 | 2)[]>(0, 1, 2);
const through = fc.oneof(
  { weight: 16, arbitrary: works },
  { weight: 1, arbitrary: fc.constant<Through>("drops") },
  { weight: 1, arbitrary: fc.constant<Through>("refuses") },
);
const pod = fc.nat({ max: 5 });
const instance = fc.oneof(
  { weight: 8, arbitrary: fc.constant("2") },
  { weight: 2, arbitrary: fc.constantFrom("", "1", "10", "9") },
);
const state = fc.oneof(
  { weight: 6, arbitrary: fc.constant<State>("ready") },
  { weight: 1, arbitrary: fc.constantFrom<State[]>("starting", "draining") },
);
const beat = fc.record({ pod, instance, state, renew: fc.nat({ max: 7 }), foreign: fc.boolean() });

/** One random operation; how often each comes is such that fleets fill, empty, lapse and restart many times. */
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.tuple(beat, through).map(([one, way]) => ({ kind: "beat" as const, through: way, ...one })),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("batch" as const),
      through,
      beats: fc.uniqueArray(beat, { minLength: 1, maxLength: 3, selector: (one) => one.pod % 3 }),
    }),
  },
  {
    weight: 30,
    arbitrary: fc.record({
      kind: fc.constant("acquire" as const),
      through,
      pod,
      instance,
      class: fc.constantFrom("normal", "normal", "normal", "high"),
      request: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
      again: fc.option(through, { nil: undefined, freq: 4 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("release" as const),
      through,
      picks: fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 4 }),
      junk: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("leave" as const), through, pod, instance }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("policy" as const),
      through: works,
      ratio: fc.constantFrom(0.8, 0.5, 0.29, 1, 0.0001),
      ttl_ms: fc.constantFrom(30_000, 10_000, 60_000),
      lease_ttl_ms: fc.constantFrom(30_000, 30_000, 7_000),
      paused: fc.constantFrom(false, false, false, false, true),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ms: fc.oneof(
        { weight: 6, arbitrary: fc.nat({ max: 6_000 }) },
        { weight: 3, arbitrary: fc.constantFrom(1, 199, 200, 4_999, 5_000) },
        { weight: 1, arbitrary: fc.constantFrom(29_999, 30_000, 599_999, 600_000, 3_600_000) },
      ),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("deadline" as const),
      pick: fc.nat({ max: 99 }),
      offset: fc.constantFrom(-1, 0, 1),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Operation>({ kind: "purge" }) },
  { weight: 1, arbitrary: fc.constant<Operation>({ kind: "wipe" }) },
);
