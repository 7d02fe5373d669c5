import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { monotonicMs } from "../../src/client/clock.ts";
import { ProblemError, UnavailableError } from "../../src/client/errors.ts";
import { type BeatAnswer, type BeaterStart, createBeater } from "../../src/client/keeper/beater.ts";

const PACE_MS = 10_000;
const hold = (id: string, ttlMs: number) => ({ id, ttlMs, deadline: monotonicMs() + ttlMs });
const down = new UnavailableError(1, { detail: "gone", retryAfterMs: 1_000 });

function problem(code: "stale-instance" | "unauthorized", status: number) {
  return new ProblemError({
    code,
    status,
    detail: "No.",
    errors: [],
    traceId: undefined,
    retryAfterMs: undefined,
  });
}

/** A beater whose beats are answered by `answer`, with everything it sent and told. */
function beaterWith(
  answer: (leases: string[], n: number) => Promise<Partial<BeatAnswer>>,
  over?: Partial<BeaterStart>,
) {
  const beats: { at: number; state: string; leases: string[]; timeoutMs: number }[] = [];
  const told: string[] = [];
  const startedAt = monotonicMs();
  const beater = createBeater(
    async (state, leases, timeoutMs) => {
      beats.push({ at: monotonicMs() - startedAt, state, leases, timeoutMs });
      const said = await answer(leases, beats.length);
      return { next_heartbeat_ms: PACE_MS, directive: "run", lost: [], ...said };
    },
    {
      state: "ready",
      timeoutMs: 5_000,
      first: { nextHeartbeatMs: PACE_MS, sentAt: startedAt },
      ...over,
    },
    {
      lost: (id, reason) => told.push(`${id} ${reason}`),
      directive: () => {},
      replaced: () => told.push("replaced"),
      failed: (_, failures) => told.push(`failed ${failures}`),
      stopped: () => {},
    },
  );
  return { beater, beats, told };
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const fine = async () => ({});

async function advanceUntil(done: () => boolean, stepMs = 5): Promise<void> {
  for (let step = 0; step < 10_000 && !done(); step++) await vi.advanceTimersByTimeAsync(stepMs);
}

describe("the beater", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("beats at the coordinator's pace, with jitter that only shortens it", async () => {
    const { beats } = beaterWith(fine);
    await vi.advanceTimersByTimeAsync(20 * PACE_MS);
    const gaps = beats.map(({ at }, n) => at - (beats[n - 1]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(PACE_MS + 2);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0.8 * PACE_MS - 2);
    expect(new Set(gaps).size).toBeGreaterThan(10);
  });

  it("beats no later than a third of the shortest ttl it holds, and slows down again after it", async () => {
    const { beater, beats } = beaterWith(fine);
    beater.hold(hold("long", 60_000));
    beater.hold(hold("short", 3_000));
    await vi.advanceTimersByTimeAsync(1_001);
    expect(beats).toHaveLength(1);
    expect(beats[0]?.leases).toEqual(["short", "long"]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(beats.length).toBeGreaterThanOrEqual(30);
    beater.drop("short");
    await vi.advanceTimersByTimeAsync(1_001);
    const before = beats.length;
    await vi.advanceTimersByTimeAsync(5 * PACE_MS);
    expect(beats.length - before).toBeLessThanOrEqual(7);
  });

  it("splits more than 100 leases over several beats, the most urgent first", async () => {
    const { beater, beats, told } = beaterWith(fine);
    for (let n = 0; n < 250; n++) beater.hold(hold(`l${n}`, 60_000 - n));
    await vi.advanceTimersByTimeAsync(PACE_MS);
    expect(beats.map(({ leases }) => leases.length)).toEqual([100, 100, 50]);
    expect(beats[0]?.leases[0]).toBe("l249");
    await vi.advanceTimersByTimeAsync(3 * 60_000);
    expect(told).toEqual([]);
  });

  it("tells a loss once when the coordinator says so, and stops renewing that lease", async () => {
    const { beater, beats, told } = beaterWith(async (leases) => ({
      lost: leases.filter((id) => id === "a"),
    }));
    beater.hold(hold("a", 30_000));
    beater.hold(hold("b", 30_000));
    await vi.advanceTimersByTimeAsync(10 * PACE_MS);
    expect(told).toEqual(["a told"]);
    expect(beats.slice(1).every(({ leases }) => leases.join() === "b")).toBe(true);
  });

  it("swallows the loss of a lease released while its beat was under way", async () => {
    const { beater, beats, told } = beaterWith(async (leases) => {
      await later(100);
      return { lost: leases };
    });
    beater.hold(hold("a", 3_000));
    await advanceUntil(() => beats.length === 1);
    beater.drop("a");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual([]);
  });

  it("bears two 503 within the ttl without a word of loss", async () => {
    const { beater, told } = beaterWith((_, n) => (n <= 2 ? Promise.reject(down) : fine()));
    beater.hold(hold("a", 3_000));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual(["failed 1", "failed 2"]);
  });

  it("counts the ttl from when the beat was sent, not from its answer", async () => {
    const { beater, told } = beaterWith(async (_, n) => {
      await later(n === 1 ? 900 : 10_000_000);
      return {};
    });
    const heldAt = monotonicMs();
    beater.hold(hold("a", 3_000));
    await advanceUntil(() => told.length > 0);
    const sentAt = 1_000;
    expect(told).toEqual(["a silence"]);
    expect(monotonicMs() - heldAt).toBeLessThanOrEqual(sentAt + 3_000 + 20);
  });

  it("tells a loss at the deadline after silence, though a beat is still under way", async () => {
    const { beater, told } = beaterWith(() => later(10_000_000) as Promise<never>);
    beater.hold(hold("a", 3_000));
    await vi.advanceTimersByTimeAsync(2_990);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(20);
    expect(told).toEqual(["a silence"]);
  });

  it("tells a loss before anything else when it wakes from a long sleep, and does not renew that lease", async () => {
    const { beater, beats, told } = beaterWith(fine);
    beater.hold(hold("a", 3_000));
    const clock = process.hrtime.bigint;
    process.hrtime.bigint = () => clock() + 6_000_000_000n;
    beater.check();
    expect(told).toEqual(["a silence"]);
    await vi.advanceTimersByTimeAsync(PACE_MS);
    expect(beats.flatMap(({ leases }) => leases)).toEqual([]);
  });

  it("does not hammer a coordinator that is down: at most two beats a pace once it has backed off", async () => {
    const { beats } = beaterWith(() => Promise.reject(new UnavailableError(1, { detail: "refused" })));
    await vi.advanceTimersByTimeAsync(40_000);
    const before = beats.length;
    await vi.advanceTimersByTimeAsync(20 * PACE_MS);
    expect(before).toBeLessThan(15);
    expect(beats.length - before).toBeLessThanOrEqual(41);
    expect(beats.length - before).toBeGreaterThanOrEqual(19);
  });

  it("goes on through a refusal that may pass, such as a key being changed", async () => {
    const { beats, told } = beaterWith((_, n) =>
      n === 1 ? Promise.reject(problem("unauthorized", 401)) : fine(),
    );
    await vi.advanceTimersByTimeAsync(3 * PACE_MS);
    expect(told).toEqual(["failed 1"]);
    expect(beats.length).toBeGreaterThanOrEqual(3);
  });

  it("ends for good when a newer process took over", async () => {
    const { beater, beats, told } = beaterWith(() => Promise.reject(problem("stale-instance", 409)));
    beater.hold(hold("a", 60_000));
    await vi.advanceTimersByTimeAsync(10 * PACE_MS);
    expect(told).toEqual(["replaced"]);
    expect(beats).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("says a change of state at once, or right after the beat under way", async () => {
    const { beater, beats } = beaterWith(async () => {
      await later(200);
      return {};
    });
    beater.setState("draining");
    await vi.advanceTimersByTimeAsync(1);
    expect(beats.map(({ state }) => state)).toEqual(["draining"]);
    beater.setState("ready");
    await vi.advanceTimersByTimeAsync(201);
    expect(beats.map(({ state }) => state)).toEqual(["draining", "ready"]);
  });

  it("waits on stop for the beat under way, sends none after it and leaves no timer", async () => {
    const { beater, beats } = beaterWith(async () => {
      await later(200);
      return {};
    });
    beater.hold(hold("a", 3_000));
    await advanceUntil(() => beats.length === 1);
    let stopped = false;
    beater.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(100);
    expect(stopped).toBe(false);
    await vi.advanceTimersByTimeAsync(101);
    expect(stopped).toBe(true);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(beats).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("gives a beat at most half the shortest ttl", async () => {
    const { beater, beats } = beaterWith(fine);
    beater.hold(hold("a", 3_000));
    await vi.advanceTimersByTimeAsync(1_001);
    expect(beats[0]?.timeoutMs).toBe(1_500);
  });

  it("starts with a retry when the first beat was not heard", async () => {
    const { beats } = beaterWith(fine, { first: undefined } as unknown as Partial<BeaterStart>);
    await vi.advanceTimersByTimeAsync(201);
    expect(beats).toHaveLength(1);
  });
});
