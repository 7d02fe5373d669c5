import { expect, test } from "vitest";
import { drawUpAccount } from "../../scripts/lib/demo/account.ts";
import { checkGate } from "../../scripts/lib/demo/gate-check.ts";
import type { PodEntry, PodLine, Trail } from "../../scripts/lib/demo/lines.ts";
import type { QueueEntry } from "../../scripts/lib/demo/queue-lines.ts";

const RULES = { ttlMs: 3_000, ratios: { normal: 8_000, high: 10_000 } };
/** The coordinator's clock in these tests, where the machine's reads 0. */
const EPOCH = 1_800_000_000_000;

/** A pod that beats every second from 0 on for `beatsFor` ms, and what else it wrote down. */
function pod(name: string, beatsFor: number, ...more: [at: number, line: PodLine][]): Trail<PodEntry> {
  const lines: [number, PodLine][] = [...more];
  for (let at = 0, call = 1_000; at < beatsFor; at += 1_000, call++) {
    lines.push([at, { event: "sent", call, what: "heartbeat", state: "ready", leases: [] }]);
    lines.push([at + 5, { event: "answered", call, what: "heartbeat", status: 200, lost: [] }]);
  }
  lines.sort(([one], [other]) => one - other);
  const entries = lines.map(([at, line]) => ({ ...line, at, wall: EPOCH + at }));
  return { cluster: "aws", name, file: "", entries };
}

/** The lines of one grant, asked for at `at`, granted 2 ms later and heard 4 ms after that. */
function grant(at: number, lease: string, said: { live: number; busy: number; capacity: number }) {
  const expires_at = EPOCH + at + 2 + 3_000;
  const lines: [number, PodLine][] = [
    [at, { event: "sent", call: at, what: "acquire", request: lease }],
    [
      at + 4,
      {
        event: "answered",
        call: at,
        what: "acquire",
        status: 200,
        granted: true,
        lease: { id: lease, ttl_ms: 3_000, expires_at },
        ...said,
      },
    ],
    [at + 5, { event: "granted", lease, class: "normal", degraded: false }],
  ];
  return lines;
}

const release = (at: number, lease: string): [number, PodLine] => [at, { event: "releasing", lease }];
const said = (busy: number) => ({ live: 2, busy, capacity: 1 });

test("grants one after the other are within the gate", () => {
  const trails = [
    pod("a", 10_000, ...grant(1_500, "l1", said(1)), release(2_000, "l1")),
    pod("b", 10_000, ...grant(2_500, "l2", said(1)), release(3_000, "l2")),
  ];
  expect(checkGate(trails, RULES)).toMatchObject({
    grants: 2,
    tookTheLast: 2,
    mostHeld: { held: 1, capacity: 1, live: 2 },
    breaches: [],
  });
});

test("a second slot held at once where one is allowed is a breach, whatever the coordinator said", () => {
  const trails = [
    pod("a", 10_000, ...grant(1_500, "l1", said(1)), release(3_500, "l1")),
    pod("b", 10_000, ...grant(2_500, "l2", said(1)), release(3_000, "l2")),
  ];
  expect(checkGate(trails, RULES).breaches).toEqual([
    expect.stringMatching(/^2 slots held, 1 allowed: normal to aws\/b/),
  ]);
});

test("the slot of a pod that was killed counts until its ttl, and no longer", () => {
  const killed = pod("a", 1_600, ...grant(1_500, "l1", said(1)));
  const soon = pod("b", 10_000, ...grant(4_400, "l2", said(1)));
  expect(checkGate([killed, soon], RULES).breaches).toContainEqual(
    expect.stringMatching(/^2 slots held, 1 allowed/),
  );
  const later = pod("b", 10_000, ...grant(4_600, "l2", { live: 1, busy: 1, capacity: 1 }));
  expect(checkGate([killed, later], RULES)).toMatchObject({ killedWhileHolding: 2, breaches: [] });
});

test("a pod that failed to join and left, and then joined, counts", () => {
  const failed: [number, PodLine][] = [
    [-30, { event: "sent", call: 1, what: "heartbeat", state: "ready", leases: [] }],
    [-20, { event: "unanswered", call: 1, what: "heartbeat", why: "no answer within 10 ms" }],
    [-15, { event: "sent", call: 2, what: "leave" }],
    [-5, { event: "answered", call: 2, what: "leave", status: 200 }],
  ];
  const trails = [pod("a", 10_000, ...failed, ...grant(6_500, "l1", { live: 1, busy: 1, capacity: 1 }))];
  expect(checkGate(trails, RULES).breaches).toEqual([]);
});

test("a false N, capacity or busy is a breach", () => {
  const told = (live: number, busy: number, capacity: number) =>
    checkGate([pod("a", 10_000, ...grant(1_500, "l1", { live, busy, capacity }))], RULES).breaches;
  expect(told(1, 1, 1)).toEqual([]);
  expect(told(2, 1, 1)).toEqual([expect.stringMatching(/^N was said to be 2, the pods say 1 to 1/)]);
  expect(told(1, 1, 2)).toEqual([expect.stringMatching(/^capacity was said to be 2 at N 1/)]);
  expect(told(1, 2, 1)).toEqual([expect.stringMatching(/^busy was said to be 2 of 1/)]);
});

/** What one process of the queue demo wrote down, a line each 100 ms. */
function trail(name: string, lines: object[], killedAt?: number): Trail<QueueEntry> {
  const entries = lines.map((line, place) => ({ ...line, at: place * 100, wall: 0 }) as QueueEntry);
  return { cluster: "aws", name, file: "", entries, ...(killedAt !== undefined && { killedAt }) };
}

const produced = trail("p", [
  { event: "pending", task: { id: "t1", payload: null } },
  { event: "accepted", id: "t1", duplicate: false },
]);
const done = (lease: string) => [
  { event: "claimed", id: "t1", lease, delivery: 1 },
  { event: "completing", id: "t1", lease },
  { event: "completed", id: "t1", lease, already: false },
];
const account = (state: string | undefined, ...workers: Trail<QueueEntry>[]) =>
  drawUpAccount([produced, ...workers], new Map(state ? [["t1", state]] : []));

test("an account closes when each task is completed once or dead", () => {
  expect(account("completed", trail("w", done("l1")))).toMatchObject({
    enqueued: 1,
    completed: 1,
    breaches: [],
  });
  expect(account("dead")).toMatchObject({ enqueued: 1, dead: 1, breaches: [] });
});

test("a completion whose answer its killed worker never wrote down is not held against it", () => {
  const killed = trail("w", done("l1").slice(0, 2), 150);
  expect(account("completed", killed)).toMatchObject({ unheard: 1, breaches: [] });
});

test("a task that is lost, left over, done twice or by nobody is a breach", () => {
  expect(account(undefined).breaches).toEqual(["t1 is lost"]);
  expect(account("ready").breaches).toEqual(["t1 is ready"]);
  expect(account("completed").breaches).toEqual(["t1 is completed, and no worker says so"]);
  expect(account("completed", trail("w", [...done("l1"), ...done("l2")])).breaches).toEqual([
    "t1 was completed 2 times",
  ]);
  expect(account("dead", trail("w", done("l1"))).breaches).toEqual(["t1 was completed, yet is dead"]);
});

test("a task in two hands at once is a breach", () => {
  const [claimed = {}] = done("l2");
  const breaches = account("completed", trail("w", done("l1")), trail("v", [claimed], 50)).breaches;
  expect(breaches).toEqual(["t1 was in two hands at once"]);
});
