import { describe, expect, it } from "vitest";
import { type LeaseLostError, PodClosedError } from "../../src/client/index.ts";
import { unavailable } from "./support/faulty-server.ts";
import { joined } from "./support/joined.ts";
import { until } from "./support/until.ts";

/** How often a signal fired, and why the first time. */
function watch(signal: AbortSignal) {
  const fired: string[] = [];
  signal.addEventListener("abort", () => fired.push((signal.reason as LeaseLostError).reason));
  return fired;
}

describe.concurrent("a lease of the keeper", () => {
  it("outlives its ttl many times over while it is held, and frees its slot when released", async () => {
    await using world = await joined();
    const lease = await world.pod.acquire();
    const fired = watch(lease.signal);
    const start = performance.now();
    await until("the lease is 4 ttl old", () => performance.now() - start > 4_000);
    expect(fired).toEqual([]);
    expect(lease.lost).toBe(false);
    expect(world.coordinator.busy()).toBe(1);
    expect(await lease.release()).toBe("released");
    expect(world.coordinator.busy()).toBe(0);
    expect(world.pod.held).toBe(0);
  });

  it("is released once, however often it is asked", async () => {
    await using world = await joined();
    const lease = await world.pod.acquire();
    const outcomes = await Promise.all([lease.release(), lease.release()]);
    expect([...outcomes, await lease.release()]).toEqual(["released", "released", "released"]);
    expect(world.coordinator.calls("release")).toHaveLength(1);
  });

  it("is released at the end of an `await using` block", async () => {
    await using world = await joined();
    {
      await using lease = await world.pod.acquire();
      expect(lease.degraded).toBe(false);
      expect(world.coordinator.busy()).toBe(1);
    }
    expect(world.coordinator.busy()).toBe(0);
  });

  it("fires its signal once when the coordinator says it is lost, and then releases nothing", async () => {
    await using world = await joined();
    const lease = await world.pod.acquire();
    const fired = watch(lease.signal);
    world.coordinator.expire(lease.id ?? "");
    await until("the loss is told", () => fired.length > 0);
    const beats = world.coordinator.calls("heartbeat").length;
    await until("three more beats", () => world.coordinator.calls("heartbeat").length >= beats + 3);
    expect(fired).toEqual(["told"]);
    expect(await lease.release()).toBe("lost");
    expect(world.coordinator.calls("release")).toEqual([]);
  });

  it("fires its signal at its own deadline when nothing answers", async () => {
    await using world = await joined();
    const askedAt = performance.now();
    const lease = await world.pod.acquire({ ttlMs: 1_000 });
    const fired = watch(lease.signal);
    world.coordinator.behaviour.instead = () => ({ fault: "hang" });
    await until("the loss is known", () => fired.length > 0);
    // The last renewal that was heard may have been sent a third of the ttl after the grant.
    expect(performance.now() - askedAt).toBeLessThan(1_000 + 334 + 250);
    expect(fired).toEqual(["silence"]);
    expect(await lease.release()).toBe("lost");
  });

  it("bears 503 twice within its ttl without a word", async () => {
    await using world = await joined();
    const lease = await world.pod.acquire();
    const fired = watch(lease.signal);
    let refused = 0;
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/heartbeat") && refused++ < 2 ? unavailable(1) : undefined;
    const start = performance.now();
    await until("two ttl have passed", () => performance.now() - start > 2_000);
    expect(refused).toBeGreaterThan(2);
    expect(fired).toEqual([]);
  });

  it("never fires after release, though beats cross it fifty times", async () => {
    await using world = await joined({ capacity: 4, paceMs: 50 });
    const fired: string[][] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const lease = await world.pod.acquire({ waitMs: 8_000 });
        fired.push(watch(lease.signal));
        const beats = world.coordinator.calls("heartbeat").length;
        await until(
          "a beat is under way",
          () => world.coordinator.calls("heartbeat").length > beats + (n % 2),
        );
        expect(await lease.release()).toBe("released");
      }),
    );
    expect(world.coordinator.busy()).toBe(0);
    expect(fired.flat()).toEqual([]);
  });

  it("says `unconfirmed` when its release is never answered, and lets nothing be rejected", async () => {
    await using world = await joined();
    const lease = await world.pod.acquire({ ttlMs: 1_000 });
    const fired = watch(lease.signal);
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/release") ? unavailable() : undefined;
    expect(await lease.release()).toBe("unconfirmed");
    expect(world.coordinator.calls("release").length).toBeGreaterThan(1);
    expect(fired).toEqual([]);
  });

  it("ends with the pod's leaving, and its signal says so", async () => {
    await using world = await joined();
    const lease = await world.pod.acquire();
    const fired = watch(lease.signal);
    expect(await world.pod.leave()).toBe("left");
    expect(fired).toEqual(["left"]);
    expect(world.coordinator.busy()).toBe(0);
    await expect(world.pod.acquire()).rejects.toBeInstanceOf(PodClosedError);
  });
});
