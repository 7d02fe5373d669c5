import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JoinOptions } from "../../src/client/index.ts";
import { type Live, startLive } from "./support/live.ts";
import { startPodProcess } from "./support/pod-process.ts";
import { until } from "./support/until.ts";

const TTL_MS = 2_000;
let live: Live;
let fleets = 0;

/** A fleet of its own for one test, and processes that join it. */
function world() {
  const name = `f${++fleets}`;
  const fleet = live.fleet(name);
  return {
    fleet,
    busy: async () => (await fleet.status()).busy,
    start: (join: Partial<JoinOptions> = {}) =>
      startPodProcess({
        url: live.url,
        key: live.key,
        fleet: name,
        join: { cluster: "eu", pod: "w-0", ...join },
      }),
  };
}

const passed = (ms: number) => {
  const start = performance.now();
  return until(`${ms} ms have passed`, () => performance.now() - start > ms, ms + 1_000);
};

describe.concurrent("the keeper against the real coordinator", { timeout: 40_000 }, () => {
  beforeAll(async () => {
    live = await startLive();
  }, 60_000);
  afterAll(() => live[Symbol.asyncDispose]());

  it("frees the slot of a process that was killed, within the ttl of its lease", async () => {
    const { fleet, start } = world();
    await using pod = await start();
    pod.tell({ do: "acquire", options: { ttlMs: TTL_MS } });
    await pod.hear("granted");
    const other = { cluster: "us", pod: "w-0" };
    expect(await fleet.acquire(other)).toMatchObject({ granted: false, reason: "at_capacity" });
    pod.child.kill("SIGKILL");
    expect(await pod.ended).toBe("SIGKILL");
    await passed(TTL_MS + 300);
    expect(await fleet.acquire(other)).toMatchObject({ granted: true });
  });

  it("loses the lease of a blocked event loop, and tells it once", async () => {
    const { busy, start } = world();
    await using pod = await start();
    pod.tell({ do: "acquire", options: { ttlMs: TTL_MS } });
    await pod.hear("granted");
    pod.tell({ do: "block", ms: 3 * TTL_MS });
    await until("the slot is free", async () => (await busy()) === 0);
    expect(await pod.hear("unblocked")).toEqual({ event: "unblocked", lost: true });
    pod.tell({ do: "release" });
    expect(await pod.hear("released")).toMatchObject({ outcome: "lost" });
    expect(pod.told.filter(({ event }) => event === "lost")).toEqual([{ event: "lost", reason: "silence" }]);
  });

  it("keeps the lease of a blocked event loop when it beats from a thread", async () => {
    const { busy, start } = world();
    await using pod = await start({ thread: true });
    pod.tell({ do: "acquire", options: { ttlMs: TTL_MS } });
    await pod.hear("granted");
    pod.tell({ do: "block", ms: 3 * TTL_MS });
    const seen = new Set<number>();
    await until("it is unblocked", async () => {
      seen.add(await busy());
      return pod.told.some(({ event }) => event === "unblocked");
    });
    expect([...seen]).toEqual([1]);
    expect(await pod.hear("unblocked")).toMatchObject({ lost: false });
    pod.tell({ do: "release" });
    expect(await pod.hear("released")).toMatchObject({ outcome: "released" });
    expect(pod.told.some(({ event }) => event === "lost")).toBe(false);
  });

  for (const thread of [false, true])
    it(`tells a loss once after a suspension${thread ? ", from a thread too" : ""}`, async () => {
      const { busy, start } = world();
      await using pod = await start({ thread });
      pod.tell({ do: "acquire", options: { ttlMs: TTL_MS } });
      await pod.hear("granted");
      pod.child.kill("SIGSTOP");
      await until("the slot is free", async () => (await busy()) === 0);
      await passed(TTL_MS);
      pod.child.kill("SIGCONT");
      await pod.hear("lost", 1_000);
      pod.tell({ do: "release" });
      expect(await pod.hear("released")).toMatchObject({ outcome: "lost" });
      await passed(1_000);
      expect(pod.told.filter(({ event }) => event === "lost")).toHaveLength(1);
      expect(pod.told.some(({ event }) => event === "unhandled")).toBe(false);
    });

  it("drains on SIGTERM, renews until the work is done, leaves, and the process ends by itself", async () => {
    const { fleet, start } = world();
    await using pod = await start();
    pod.tell({ do: "acquire", options: { ttlMs: TTL_MS } });
    await pod.hear("granted");
    pod.tell({ do: "work", ms: 3 * TTL_MS });
    pod.tell({ do: "let-go" });
    pod.child.kill("SIGTERM");
    expect(await pod.hear("closing")).toMatchObject({ reason: "draining" });
    await until("it is out of the count", async () => (await fleet.status()).live === 0);
    expect(await fleet.status()).toMatchObject({ live: 0, draining: 1, busy: 1 });
    expect(await pod.hear("released", 15_000)).toMatchObject({ outcome: "released" });
    expect(await pod.ended).toBe(0);
    expect(await fleet.status()).toMatchObject({ live: 0, draining: 0, busy: 0 });
    expect(pod.told.some(({ event }) => event === "lost")).toBe(false);
  });

  it("gives its slot back when the grace after SIGTERM is over, before the work is", async () => {
    const { fleet, start } = world();
    await using pod = await start({ graceMs: 1_000 });
    pod.tell({ do: "acquire", options: { ttlMs: 60_000 } });
    await pod.hear("granted");
    pod.tell({ do: "work", ms: 60_000 });
    pod.tell({ do: "let-go" });
    pod.child.kill("SIGTERM");
    expect(await pod.hear("lost")).toMatchObject({ reason: "left" });
    expect(await pod.ended).toBe(0);
    expect(await fleet.status()).toMatchObject({ live: 0, draining: 0, busy: 0 });
  });

  it("ends a process that idles on SIGTERM only when asked to", async () => {
    const { start } = world();
    await using pod = await start({ exitAfterLeave: true });
    pod.child.kill("SIGTERM");
    expect(await pod.ended).toBe(0);
  });

  it("keeps no process alive by itself, with a thread or without", async () => {
    const { start } = world();
    for (const thread of [false, true]) {
      await using pod = await start({ thread, pod: `w-${thread}` });
      pod.tell({ do: "let-go" });
      expect(await pod.ended).toBe(0);
    }
  });

  it("replaces an older process of the same name, whose leases are then lost", async () => {
    const { fleet, start } = world();
    await using older = await start();
    older.tell({ do: "acquire", options: { ttlMs: TTL_MS } });
    await older.hear("granted");
    await using _newer = await start();
    expect(await older.hear("lost")).toMatchObject({ reason: "replaced" });
    expect(await older.hear("closing")).toMatchObject({ reason: "replaced" });
    expect((await fleet.status()).live).toBe(1);
  });

  it("leaves nothing busy after fifty releases that cross renewals of the same lease, in both orders", async () => {
    const { fleet, busy } = world();
    const pod = await fleet.join({ cluster: "eu", pod: "w-0", slots: 64, handleSignals: false });
    const { cluster, pod: name, instance } = pod;
    const fired: unknown[] = [];
    const cross = async (n: number) => {
      const lease = await pod.acquire({ waitMs: 20_000 });
      lease.signal.addEventListener("abort", () => fired.push(lease.signal.reason));
      const renew = () =>
        fleet.heartbeat({ cluster, pod: name, instance, slots: 64, leases: [lease.id ?? ""] });
      const [outcome] =
        n % 2 === 0
          ? await Promise.all([lease.release(), renew()])
          : (await Promise.all([renew(), lease.release()])).toReversed();
      expect(outcome).toBe("released");
    };
    await Promise.all(Array.from({ length: 50 }, (_, n) => cross(n)));
    expect(await busy()).toBe(0);
    expect(fired).toEqual([]);
    await pod.leave();
  });

  it("takes no slot that gets free after it has left, though it was waiting", async () => {
    const { fleet, busy } = world();
    const held = await fleet.acquire({ cluster: "us", pod: "w-0" });
    const pod = await fleet.join({ cluster: "eu", pod: "w-0", handleSignals: false });
    const waiting = pod.acquire({ waitMs: 20_000 }).catch((error: unknown) => error);
    await passed(500);
    expect(await pod.leave()).toBe("left");
    expect(await waiting).toMatchObject({ code: "pod-closed" });
    if (held.granted) await fleet.release({ leases: [held.lease.id] });
    await passed(1_500);
    expect(await busy()).toBe(0);
  });

  it("leaves no slot taken by a wait that was given up", async () => {
    const { fleet, busy } = world();
    const pod = await fleet.join({ cluster: "eu", pod: "w-0", handleSignals: false });
    const lease = await pod.acquire();
    const waits = Array.from({ length: 10 }, () =>
      pod.acquire({ waitMs: 4_000, signal: AbortSignal.timeout(700) }).catch((error: unknown) => error),
    );
    for (const error of await Promise.all(waits)) expect(error).toMatchObject({ name: "TimeoutError" });
    await lease.release();
    await passed(5_000);
    expect(await busy()).toBe(0);
    await pod.leave();
  });
});
