import { describe, expect, it } from "vitest";
import { NotGrantedError, PodClosedError, ProblemError, UnavailableError } from "../../src/client/index.ts";
import { problem } from "./support/fake-coordinator.ts";
import { unavailable } from "./support/faulty-server.ts";
import { joined } from "./support/joined.ts";
import { until } from "./support/until.ts";

describe.concurrent("acquire of the keeper", () => {
  it("throws NotGrantedError with the reason and the hint when there is no slot", async () => {
    await using world = await joined({ capacity: 0, retryAfterMs: 321 });
    const error = await world.pod.acquire().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotGrantedError);
    expect(error).toMatchObject({ code: "not-granted", reason: "at_capacity", retryAfterMs: 321 });
    expect(world.coordinator.calls("acquire")).toHaveLength(1);
  });

  it("asks again under one request id with a growing attempt, never sooner than the hint", async () => {
    await using world = await joined({ capacity: 0, retryAfterMs: 60 });
    // The server's own waiting is cut short here, to see the client's.
    world.coordinator.behaviour.instead = ({ path, body }) => {
      if (path.endsWith("/acquire")) body.wait_ms = 0;
      return undefined;
    };
    const waiting = world.pod.acquire({ class: "high", ttlMs: 2_000, waitMs: 5_000 });
    await until("four denials", () => world.coordinator.calls("acquire").length >= 4);
    world.coordinator.behaviour.capacity = 1;
    const lease = await waiting;
    expect(lease).toMatchObject({ class: "high", ttlMs: 2_000, degraded: false });
    const asked = world.coordinator.calls("acquire");
    expect(new Set(asked.map(({ body }) => body.request_id))).toEqual(new Set([lease.requestId]));
    expect(asked.map(({ body }) => body.attempt)).toEqual(asked.map((_, n) => n));
    const gaps = asked.slice(1).map(({ at }, n) => at - (asked[n]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60);
  });

  it("lets the server wait, at most 25 s a call, and those who began together not equally long", async () => {
    await using world = await joined({ capacity: 0 });
    const ends = new AbortController();
    const { signal } = ends;
    const waiting = Promise.allSettled(
      Array.from({ length: 100 }, () => world.pod.acquire({ waitMs: 60_000, signal })),
    );
    await until("all asked", () => world.coordinator.calls("acquire").length >= 100);
    ends.abort(new Error("enough"));
    for (const one of await waiting) expect(one).toMatchObject({ reason: { message: "enough" } });
    const waits: number[] = world.coordinator.calls("acquire").map(({ body }) => body.wait_ms);
    const first = waits.slice(0, 100);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...first)).toBeLessThanOrEqual(25_000);
    const parts = Map.groupBy(first, (wait) => Math.floor(wait / 100));
    expect(Math.max(...[...parts.values()].map(({ length }) => length))).toBeLessThan(15);
  });

  it("gives out a lease that was long in coming only after renewing it", async () => {
    await using world = await joined({ capacity: 1, leaseTtlMs: 500, paceMs: 10_000 });
    const first = await world.pod.acquire();
    const waiting = world.pod.acquire({ waitMs: 5_000 });
    await until("it waits", () => world.coordinator.calls("acquire").length === 2);
    const start = performance.now();
    await until("the wait is longer than the ttl", () => performance.now() - start > 700);
    await first.release();
    const lease = await waiting;
    expect(lease.lost).toBe(false);
    expect(world.coordinator.calls("heartbeat").at(-1)?.body.leases).toEqual([lease.id]);
  });

  it("keeps its request id over 503, a reset and a lost answer, and takes one slot", async () => {
    await using world = await joined({}, { unavailableAfterMs: 6_000 });
    const faults = [unavailable(), { fault: "reset" } as const];
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/acquire") ? faults.shift() : undefined;
    let lost = 0;
    world.coordinator.behaviour.afterwards = ({ path }) =>
      path.endsWith("/acquire") && lost++ === 0 ? { fault: "reset" } : undefined;
    const lease = await world.pod.acquire();
    expect(lease.degraded).toBe(false);
    expect(new Set(world.coordinator.calls("acquire").map(({ body }) => body.request_id)).size).toBe(1);
    expect(world.coordinator.calls("acquire")).toHaveLength(4);
    expect(world.coordinator.busy()).toBe(1);
  });

  it("takes a new request id when the lease of an unheard grant has ended meanwhile", async () => {
    await using world = await joined();
    let granted: string | undefined;
    world.coordinator.behaviour.afterwards = ({ path, body }) => {
      if (!path.endsWith("/acquire") || granted !== undefined) return undefined;
      granted = `${body.pod}/${body.request_id}`;
      world.coordinator.expire(granted);
      return { fault: "reset" };
    };
    const lease = await world.pod.acquire();
    expect(lease.degraded).toBe(false);
    expect(lease.id).not.toBe(granted);
  });

  it("reports request-ended for a request id of the caller's own", async () => {
    await using world = await joined();
    await (await world.pod.acquire({ requestId: "mine" })).release();
    const error = await world.pod.acquire({ requestId: "mine" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ code: "request-ended" });
  });

  it("does not try a refusal again", async () => {
    await using world = await joined();
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/acquire") ? problem(400, "unknown-class") : undefined;
    await expect(world.pod.acquire({ class: "none" })).rejects.toMatchObject({ code: "unknown-class" });
    expect(world.coordinator.calls("acquire")).toHaveLength(1);
  });

  it("stops at the caller's signal with its reason, and gives back what the cut call may have taken", async () => {
    await using world = await joined();
    const ends = new AbortController();
    world.coordinator.behaviour.afterwards = ({ path }) => {
      if (!path.endsWith("/acquire") || ends.signal.aborted) return undefined;
      ends.abort(new Error("changed my mind"));
      return { fault: "hang" };
    };
    await expect(world.pod.acquire({ signal: ends.signal })).rejects.toThrow("changed my mind");
    await until("the slot is free again", () => world.coordinator.busy() === 0);
    expect(world.pod.held).toBe(0);
  });

  it.each(["acquire", "release"])("goes on giving that back when a 503 answers its %s", async (call) => {
    await using world = await joined({ leaseTtlMs: 60_000 });
    const ends = new AbortController();
    let refusals = 0;
    world.coordinator.behaviour.instead = ({ path }) =>
      ends.signal.aborted && path.endsWith(`/${call}`) && refusals++ === 0 ? unavailable() : undefined;
    world.coordinator.behaviour.afterwards = ({ path }) => {
      if (!path.endsWith("/acquire") || ends.signal.aborted) return undefined;
      ends.abort(new Error("changed my mind"));
      return { fault: "reset" };
    };
    await expect(world.pod.acquire({ signal: ends.signal })).rejects.toThrow("changed my mind");
    await until("it was refused", () => refusals > 0);
    expect(world.coordinator.busy()).toBe(1);
    await until("the slot is free again", () => world.coordinator.busy() === 0);
  });

  it("gives back what was granted unheard when a later try is refused", async () => {
    await using world = await joined({ leaseTtlMs: 60_000 }, { unavailableAfterMs: 5_000 });
    let tries = 0;
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/acquire") && ++tries === 2 ? problem(500, "internal") : undefined;
    world.coordinator.behaviour.afterwards = ({ path }) =>
      path.endsWith("/acquire") && tries === 1 ? { fault: "reset" } : undefined;
    await expect(world.pod.acquire()).rejects.toMatchObject({ code: "internal" });
    await until("the slot is free again", () => world.coordinator.busy() === 0);
  });

  it("renews the lease of a request id of the caller's own first, since it may be an old one", async () => {
    await using world = await joined({ paceMs: 10_000 });
    const lease = await world.pod.acquire({ requestId: "mine" });
    expect(world.coordinator.calls("heartbeat").at(-1)?.body.leases).toEqual([lease.id]);
    expect((await world.pod.acquire()).lost).toBe(false);
    expect(world.coordinator.calls("heartbeat")).toHaveLength(2);
  });

  it("tells who holds the same request's lease too when it is released, and keeps it from who gave it up", async () => {
    await using world = await joined();
    const [one, other] = [
      await world.pod.acquire({ requestId: "mine" }),
      await world.pod.acquire({ requestId: "mine" }),
    ];
    const ends = new AbortController();
    world.coordinator.behaviour.afterwards = ({ path }) => {
      if (path.endsWith("/acquire")) ends.abort(new Error("changed my mind"));
      return undefined;
    };
    const third = world.pod.acquire({ requestId: "mine", signal: ends.signal });
    await expect(third).rejects.toThrow("changed my mind");
    const beats = world.coordinator.calls("heartbeat").length;
    await until("two more beats", () => world.coordinator.calls("heartbeat").length >= beats + 2);
    expect([one.lost, other.lost]).toEqual([false, false]);
    expect(await one.release()).toBe("released");
    expect(other.signal.reason).toMatchObject({ reason: "told" });
    expect(await other.release()).toBe("lost");
  });

  it("sends nothing when the caller's signal has fired before", async () => {
    await using world = await joined();
    await expect(world.pod.acquire({ signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
    expect(world.coordinator.calls("acquire")).toEqual([]);
  });

  it("goes on with a degraded lease when the coordinator is out of reach and the pod is open", async () => {
    await using world = await joined();
    world.coordinator.behaviour.instead = () => ({ fault: "reset" });
    const start = performance.now();
    const lease = await world.pod.acquire({ waitMs: 60_000 });
    expect(performance.now() - start).toBeLessThan(2_500);
    expect(lease).toMatchObject({ degraded: true, id: null, ttlMs: null, class: "normal" });
    expect(world.pod.held).toBe(1);
    expect(await lease.release()).toBe("degraded");
    expect(world.coordinator.calls("release")).toEqual([]);
    expect(world.pod.held).toBe(0);
  });

  it("throws UnavailableError when the pod is closed", async () => {
    await using world = await joined({}, { onUnavailable: "closed" });
    world.coordinator.behaviour.instead = () => ({ fault: "hang" });
    await expect(world.pod.acquire()).rejects.toBeInstanceOf(UnavailableError);
  });

  it("goes on waiting until its deadline when the pod is closed, and is granted after the recovery", async () => {
    await using world = await joined({}, { onUnavailable: "closed" });
    const start = performance.now();
    world.coordinator.behaviour.instead = () =>
      performance.now() - start < 1_200 ? unavailable() : undefined;
    const lease = await world.pod.acquire({ waitMs: 10_000 });
    expect(lease.degraded).toBe(false);
    expect(performance.now() - start).toBeGreaterThan(1_200);
  });

  it("ends the pod when the coordinator says that a newer process took over", async () => {
    await using world = await joined();
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/acquire") ? problem(409, "stale-instance") : undefined;
    await expect(world.pod.acquire()).rejects.toMatchObject({ code: "stale-instance" });
    expect(world.pod.state).toBe("replaced");
    await expect(world.pod.acquire()).rejects.toBeInstanceOf(PodClosedError);
  });
});
