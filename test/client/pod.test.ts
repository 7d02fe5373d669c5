import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient, ProblemError, UnavailableError } from "../../src/client/index.ts";
import { problem, startFakeCoordinator } from "./support/fake-coordinator.ts";
import { unavailable } from "./support/faulty-server.ts";
import { joined, KEY } from "./support/joined.ts";
import { until } from "./support/until.ts";

const who = { cluster: "eu", pod: "worker-0", handleSignals: false };

describe.concurrent("a joined pod", () => {
  it("has beaten once when joining resolves, with its labels, slots and a time-ordered instance", async () => {
    await using world = await joined({}, { slots: 2, labels: { gpu: "a100" }, state: "starting" });
    const [first] = world.coordinator.calls("heartbeat");
    expect(first?.body).toEqual({
      cluster: "eu",
      pod: "worker-0",
      instance: world.pod.instance,
      slots: 2,
      labels: { gpu: "a100" },
      state: "starting",
    });
    expect(world.pod.instance).toMatch(/^[0-9a-f]{32}$/);
    expect(Number.parseInt(world.pod.instance.slice(0, 12), 16)).toBeGreaterThan(Date.now() - 3_600_000);
    world.pod.ready();
    await until(
      "it beats as ready",
      () => world.coordinator.calls("heartbeat").at(-1)?.body.state === "ready",
    );
  });

  it("cannot join with a refused key, and the error does not hold the key", async () => {
    await using coordinator = await startFakeCoordinator({ instead: () => problem(401, "unauthorized") });
    const client = createClient({ url: coordinator.url, key: KEY });
    const error = await client
      .fleet("render")
      .join(who)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProblemError);
    expect(inspect([error, client, client.fleet("render")], { depth: 9, showHidden: true })).not.toContain(
      KEY,
    );
  });

  it("joins later by itself when it is open and the coordinator is away", async () => {
    const errors: number[] = [];
    await using world = await joined(
      { instead: () => unavailable() },
      { onBeatError: (_, failures) => errors.push(failures) },
    );
    expect(world.pod.state).toBe("ready");
    expect((await world.pod.acquire()).degraded).toBe(true);
    await until("a beat failed", () => errors.length > 0);
    world.coordinator.behaviour.instead = () => undefined;
    const lease = await world.pod.acquire();
    expect(lease.degraded).toBe(false);
    const beats = world.coordinator.calls("heartbeat").length;
    await until("it beats", () => world.coordinator.calls("heartbeat").length > beats + 2, 12_000);
  });

  it("does not join when it is closed and the coordinator is away", async () => {
    await using coordinator = await startFakeCoordinator({ instead: () => ({ fault: "reset" }) });
    const fleet = createClient({ url: coordinator.url, key: KEY, onUnavailable: "closed" }).fleet("render");
    const error = await fleet.join({ ...who, unavailableAfterMs: 300 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(KEY);
  });

  it("drains: beats as draining, ends waiting, goes on renewing, and resolves with the last release", async () => {
    await using world = await joined({ capacity: 1 });
    const lease = await world.pod.acquire();
    const waiting = world.pod.acquire({ waitMs: 60_000 }).catch((thrown: unknown) => thrown);
    await until("the second waits", () => world.coordinator.calls("acquire").length === 2);
    let drained = false;
    const draining = world.pod.drain().then(() => {
      drained = true;
    });
    expect(await waiting).toMatchObject({ code: "pod-closed", reason: "draining" });
    expect(world.pod.closing.aborted).toBe(true);
    const start = performance.now();
    await until("three ttl have passed", () => performance.now() - start > 3_000);
    expect(world.coordinator.calls("heartbeat").at(-1)?.body.state).toBe("draining");
    expect(lease.lost).toBe(false);
    expect(drained).toBe(false);
    await lease.release();
    await draining;
    // The wait that was ended may be granted now, and is then given back.
    await until("nothing is busy", () => world.coordinator.busy() === 0);
    expect(() => world.pod.ready()).toThrow("draining");
  });

  it("waits with leaving for the beat under way, and beats no more", async () => {
    await using world = await joined({ paceMs: 100 });
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    world.coordinator.behaviour.instead = async ({ path }) => {
      if (path.endsWith("/heartbeat")) await held;
      return undefined;
    };
    const beats = () => world.coordinator.calls("heartbeat").length;
    await until("a beat is under way", () => beats() === 2);
    const leaving = world.pod.leave();
    expect(world.pod.leave()).toBe(leaving);
    expect(world.coordinator.calls("leave")).toEqual([]);
    answer();
    expect(await leaving).toBe("left");
    const start = performance.now();
    await until("five paces have passed", () => performance.now() - start > 500);
    expect(beats()).toBe(2);
    expect(world.coordinator.calls("leave")).toHaveLength(1);
  });

  /** A pod whose wait for a slot was long, so that its lease is being renewed before it is given out; `go` lets that run. */
  async function renewing() {
    const world = await joined({ capacity: 1, leaseTtlMs: 500, paceMs: 10_000 });
    const first = await world.pod.acquire();
    const waiting = world.pod.acquire({ waitMs: 5_000 }).catch((error: unknown) => error);
    const start = performance.now();
    await until("the wait is longer than the ttl", () => performance.now() - start > 700);
    let go = () => {};
    const held = new Promise<undefined>((resolve) => {
      go = () => resolve(undefined);
    });
    // Not the keeper's own beat, which may still name the first.
    const isRenewal = ({ leases = [] }: { leases?: string[] }) =>
      leases.length === 1 && leases[0] !== first.id;
    world.coordinator.behaviour.instead = ({ path, body }) =>
      path.endsWith("/heartbeat") && isRenewal(body) ? held : undefined;
    await first.release();
    const renewals = () => world.coordinator.calls("heartbeat").filter(({ body }) => isRenewal(body));
    await until("the renewal is under way", () => renewals().length > 0);
    return { world, waiting, go };
  }

  it("waits with leaving for the renewal of a lease that is not given out yet", async () => {
    const { world, waiting, go } = await renewing();
    await using _ = world;
    const leaving = world.pod.leave();
    expect(await waiting).toMatchObject({ code: "pod-closed" });
    const start = performance.now();
    await until("some time has passed", () => performance.now() - start > 300);
    expect(world.coordinator.calls("leave")).toEqual([]);
    go();
    expect(await leaving).toBe("left");
    expect(world.coordinator.seen.at(-1)?.path).toMatch("leave");
  });

  it("beats as draining once more after a renewal that said ready and may have come later", async () => {
    const { world, waiting, go } = await renewing();
    await using _ = world;
    const drained = world.pod.drain();
    expect(await waiting).toMatchObject({ code: "pod-closed" });
    await drained;
    const draining = () =>
      world.coordinator.calls("heartbeat").filter(({ body }) => body.state === "draining");
    await until("it says so", () => draining().length === 1);
    go();
    await until("it says so again", () => draining().length === 2);
  });

  it("says `unconfirmed` when its leaving is never answered", async () => {
    await using world = await joined();
    world.coordinator.behaviour.instead = ({ path }) => (path.endsWith("/leave") ? unavailable() : undefined);
    expect(await world.pod.leave()).toBe("unconfirmed");
  });

  it("tells what the operator asks for and does nothing by itself", async () => {
    const drained: string[] = [];
    await using world = await joined({}, { onDrain: (pod) => drained.push(pod.pod) });
    expect(world.pod.directive).toBe("run");
    world.coordinator.behaviour.directive = "drain";
    await until("it is told", () => drained.length > 0);
    expect(world.pod.directive).toBe("drain");
    expect(world.pod.state).toBe("ready");
    const beats = world.coordinator.calls("heartbeat").length;
    await until("two more beats", () => world.coordinator.calls("heartbeat").length >= beats + 2);
    expect(drained).toEqual(["worker-0"]);
  });

  it("tells a drain heard with the very first beat", async () => {
    const drained: string[] = [];
    await using world = await joined(
      { directive: "drain" },
      { onDrain: (pod) => drained.push(pod.directive) },
    );
    await until("it is told", () => drained.length > 0);
    expect(world.pod.directive).toBe("drain");
    expect(drained).toEqual(["drain"]);
  });

  it("ends when a newer process took over: leases lost, told once, nothing more sent", async () => {
    const replaced: string[] = [];
    await using world = await joined({}, { onReplaced: (pod) => replaced.push(pod.state) });
    const leases = [await world.pod.acquire(), await world.pod.acquire()];
    world.coordinator.behaviour.instead = () => problem(409, "stale-instance");
    await until("it is told", () => replaced.length > 0);
    expect(replaced).toEqual(["replaced"]);
    expect(leases.map(({ signal }) => signal.reason.reason)).toEqual(["replaced", "replaced"]);
    await expect(world.pod.acquire()).rejects.toMatchObject({ code: "pod-closed", reason: "replaced" });
    const sent = world.coordinator.seen.length;
    expect(await leases[0]?.release()).toBe("lost");
    expect(await world.pod.leave()).toBe("replaced");
    expect(world.coordinator.seen).toHaveLength(sent);
  });
});

describe.concurrent("a pod that beats from a thread", () => {
  it("keeps its leases and hears of losses as one without does", { timeout: 20_000 }, async () => {
    await using world = await joined({ leaseTtlMs: 2_000, paceMs: 500 }, { thread: true });
    const [kept, taken] = [await world.pod.acquire(), await world.pod.acquire()];
    const start = performance.now();
    await until("two ttl have passed", () => performance.now() - start > 4_000);
    expect([kept.lost, taken.lost]).toEqual([false, false]);
    world.coordinator.expire(taken.id ?? "");
    await until("the loss is told", () => taken.signal.aborted);
    expect(taken.signal.reason).toMatchObject({ code: "lease-lost", reason: "told" });
    expect(await kept.release()).toBe("released");
    expect(await world.pod.leave()).toBe("left");
    const beats = world.coordinator.calls("heartbeat").length;
    const left = performance.now();
    await until("three paces have passed", () => performance.now() - left > 1_500);
    expect(world.coordinator.calls("heartbeat")).toHaveLength(beats);
  });

  it("is told of drain, of failures and of being replaced", async () => {
    const told: string[] = [];
    await using world = await joined(
      {},
      {
        thread: true,
        onDrain: () => told.push("drain"),
        onReplaced: () => told.push("replaced"),
        onBeatError: (error) => told.push(String(error)),
      },
    );
    world.coordinator.behaviour.directive = "drain";
    await until("drain is told", () => told.includes("drain"));
    world.coordinator.behaviour.instead = () => problem(401, "unauthorized");
    await until("a failure is told", () => told.some((text) => text.includes("It is unauthorized.")));
    world.coordinator.behaviour.instead = () => problem(409, "stale-instance");
    await until("being replaced is told", () => world.pod.state === "replaced");
    await until("and its callback called", () => told.at(-1) === "replaced");
  });

  it("is refused with a fetch of the caller's own, which no thread can share", async () => {
    const client = createClient({ url: "http://127.0.0.1:9", key: KEY, fetch });
    await expect(client.fleet("render").join({ ...who, thread: true })).rejects.toThrow("thread: true");
  });
});
