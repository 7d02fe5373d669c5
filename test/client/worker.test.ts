import { describe, expect, it } from "vitest";
import { createClient, LeaseLostError, TaskError } from "../../src/client/index.ts";
import { sleep } from "../../src/client/timers.ts";
import { problem, startFakeCoordinator } from "./support/fake-coordinator.ts";
import { unavailable } from "./support/faulty-server.ts";
import { KEY } from "./support/joined.ts";
import { until } from "./support/until.ts";
import { working } from "./support/working.ts";

const forever = () => new Promise<void>(() => {});

describe.concurrent("a worker", { timeout: 20_000 }, () => {
  it("completes each task with what its handler returns", async () => {
    const payloads: unknown[] = [];
    await using world = await working((payload) => {
      payloads.push(payload);
      return { seen: payload };
    });
    world.coordinator.queue.add("t1", []);
    world.coordinator.queue.add("t2", null);
    await until("both are done", () => world.worker.counts.completed === 2);
    expect(payloads).toEqual([[], null]);
    expect(world.coordinator.queue.completed).toEqual([
      { id: "t1", result: { seen: [] } },
      { id: "t2", result: { seen: null } },
    ]);
    expect(world.coordinator.busy()).toBe(0);
    expect(world.worker.pod.held).toBe(0);
  });

  it("counts for as many slots as it has places", async () => {
    await using world = await working(forever, {}, { concurrency: 3 });
    expect(world.coordinator.calls("heartbeat")[0]?.body.slots).toBe(3);
  });

  it("never claims more than it has free places for, nor while it has none", async () => {
    let running = 0;
    let most = 0;
    const handler = async () => {
      most = Math.max(most, ++running);
      await sleep(60);
      running--;
    };
    await using world = await working(handler, {}, { concurrency: 3 });
    for (let n = 0; n < 12; n++) world.coordinator.queue.add(`t${n}`);
    await until("all are done", () => world.worker.counts.completed === 12);
    expect(most).toBe(3);
    expect(Math.max(...world.coordinator.calls("claim").map(({ body }) => body.max))).toBe(3);
    expect(world.coordinator.queue.claimed).toHaveLength(12);
  });

  it("renews its tasks' leases with the pod's beats for as long as the work takes", async () => {
    await using world = await working(() => sleep(3_000), { leaseTtlMs: 1_000 });
    world.coordinator.queue.add("t1");
    await until("it is done", () => world.worker.counts.completed === 1);
    expect(world.coordinator.queue.claimed).toHaveLength(1);
    const renewing = world.coordinator.calls("heartbeat").filter(({ body }) => body.leases?.length === 1);
    expect(renewing.length).toBeGreaterThan(5);
  });

  it("fires the signal once when the lease is lost, and then sends nothing of that task", async () => {
    const fired: unknown[] = [];
    await using world = await working(async (_, { signal }) => {
      signal.addEventListener("abort", () => fired.push(signal.reason));
      await sleep(10_000, signal);
    });
    world.coordinator.queue.add("t1");
    await until("it runs", () => world.worker.counts.running === 1);
    world.coordinator.expire(world.coordinator.queue.claimed[0]?.lease ?? "");
    await until("it is lost", () => world.worker.counts.lost === 1);
    expect(fired).toHaveLength(1);
    expect(fired[0]).toBeInstanceOf(LeaseLostError);
    expect(fired[0]).toMatchObject({ reason: "told" });
    expect(world.coordinator.calls("complete")).toEqual([]);
    expect(world.coordinator.calls("fail")).toEqual([]);
  });

  it("keeps the place of a handler that ignores its lost lease", async () => {
    let go = () => {};
    await using world = await working(() => new Promise<void>((resolve) => (go = resolve)));
    world.coordinator.queue.add("t1");
    await until("it runs", () => world.worker.counts.running === 1);
    world.coordinator.expire(world.coordinator.queue.claimed[0]?.lease ?? "");
    world.coordinator.queue.add("t2");
    await until("it is lost", () => world.worker.pod.held === 0);
    await sleep(300);
    expect(world.coordinator.queue.claimed).toHaveLength(1);
    go();
    await until("the next one runs", () => world.coordinator.queue.claimed.length === 2);
    go();
  });

  it("fails a task with what was thrown, and takes the next", async () => {
    const errors: unknown[] = [];
    const handler = (payload: unknown) => {
      if (payload === "bad") throw new Error("no good");
    };
    await using world = await working(handler, {}, { onTaskError: (error) => errors.push(error) });
    world.coordinator.queue.add("t1", "bad");
    world.coordinator.queue.add("t2", "good");
    await until("both ended", () => world.worker.counts.failed + world.worker.counts.completed === 2);
    expect(world.coordinator.queue.failed[0]?.body.error).toMatch(/^Error: no good\n/);
    expect(world.coordinator.queue.failed[0]?.body).not.toHaveProperty("retry");
    expect(errors).toEqual([new Error("no good")]);
  });

  it("lets a TaskError say what becomes of the task", async () => {
    const options = { retry: false, delayMs: 5_000, reason: "bad-input" };
    await using world = await working(() => Promise.reject(new TaskError("never again", options)));
    world.coordinator.queue.add("t1");
    await until("it failed", () => world.worker.counts.failed === 1);
    expect(world.coordinator.queue.failed[0]?.body).toMatchObject({
      retry: false,
      delay_ms: 5_000,
      reason: "bad-input",
    });
  });

  it("makes a TaskError fit the wire, which would refuse it", async () => {
    const errors = [
      new TaskError("a", { delayMs: 1_500.5 }),
      new TaskError("b", { delayMs: 1e12, reason: "r".repeat(200) }),
      new TaskError("c", { delayMs: Number.NaN, retry: false }),
      new TaskError("d", { delayMs: -1 }),
    ];
    await using world = await working((n) => Promise.reject(errors[Number(n)]));
    for (const n of errors.keys()) world.coordinator.queue.add(`t${n}`, n);
    await until("all failed", () => world.worker.counts.failed >= 4);
    const bodies = world.coordinator.queue.failed.map(({ body }) => body);
    expect(bodies.slice(0, 4).map(({ delay_ms }) => delay_ms)).toEqual([1_501, 86_400_000, undefined, 0]);
    expect(bodies[1].reason).toBe("r".repeat(128));
    expect(bodies[2].retry).toBe(false);
  });

  it("bears whatever is thrown and returned", async () => {
    const ends = [
      () => 1n,
      () => () => {},
      () => Promise.reject(),
      () => Promise.reject(Object.create(null)),
      () => Promise.reject(Object.assign(new Error("odd"), { stack: ["not", "text"] })),
    ];
    await using world = await working((n) => ends[Number(n)]?.());
    for (const n of ends.keys()) world.coordinator.queue.add(`t${n}`, n);
    await until("all ended", () => world.worker.counts.completed + world.worker.counts.failed === 5);
    expect(world.coordinator.queue.completed).toEqual([{ id: "t1", result: undefined }]);
    expect(world.coordinator.queue.failed.map(({ id }) => id)).toEqual(["t0", "t2", "t3", "t4"]);
    expect(world.coordinator.queue.failed[3]?.body.error).toBe("Error: odd");
  });

  it("makes a task dead whose result is refused, since another run would only give the same", async () => {
    await using world = await working(() => "large");
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/complete") ? problem(413, "too-large") : undefined;
    world.coordinator.queue.add("t1");
    await until("it failed", () => world.worker.counts.failed === 1);
    expect(world.coordinator.queue.failed[0]?.body).toMatchObject({ retry: false, reason: "result-refused" });
  });

  it("repeats a completion whose answer was lost, and it counts once", async () => {
    await using world = await working(() => "done");
    let lost = 0;
    world.coordinator.behaviour.afterwards = ({ path }) =>
      path.endsWith("/complete") && lost++ < 2 ? { fault: "reset" } : undefined;
    world.coordinator.queue.add("t1");
    await until("it is done", () => world.worker.counts.completed === 1);
    expect(world.coordinator.calls("complete")).toHaveLength(3);
    expect(world.coordinator.queue.completed).toEqual([{ id: "t1", result: "done" }]);
  });

  it("drops a task whose completion comes too late, and goes on", async () => {
    await using world = await working(() => "done");
    let stale = true;
    world.coordinator.behaviour.instead = ({ path }) => {
      if (!path.endsWith("/complete") || !stale) return undefined;
      stale = false;
      return problem(409, "stale-lease");
    };
    world.coordinator.queue.add("t1");
    world.coordinator.queue.add("t2");
    await until("the second is done", () => world.worker.counts.completed === 1);
    expect(world.worker.counts.lost).toBe(1);
    expect(world.coordinator.queue.failed).toEqual([]);
  });

  it("keeps a claim's request id over a lost answer, and works on what it got", async () => {
    await using world = await working(() => "done");
    let lost = 0;
    world.coordinator.behaviour.afterwards = ({ path }) =>
      path.endsWith("/claim") && world.coordinator.queue.claimed.length > 0 && lost++ === 0
        ? { fault: "reset" }
        : undefined;
    world.coordinator.queue.add("t1");
    await until("it is done", () => world.worker.counts.completed === 1);
    expect(world.coordinator.queue.claimed).toHaveLength(1);
  });

  it("takes a new request id when what an unheard claim got has ended meanwhile", async () => {
    await using world = await working(() => "done");
    const { queue } = world.coordinator;
    let lost = 0;
    world.coordinator.behaviour.afterwards = ({ path }) => {
      if (!path.endsWith("/claim") || queue.claimed.length === 0 || lost++ > 0) return undefined;
      world.coordinator.expire(queue.claimed[0]?.lease ?? "");
      queue.add("t2");
      return { fault: "reset" };
    };
    queue.add("t1");
    await until("the other is done", () => world.worker.counts.completed === 1);
    expect(queue.completed).toEqual([{ id: "t2", result: "done" }]);
  });

  it("begins work that was long in coming only after renewing its lease", async () => {
    await using world = await working(
      () => sleep(1_200),
      { leaseTtlMs: 1_000, paceMs: 10_000 },
      { waitMs: 10_000 },
    );
    await sleep(1_500);
    world.coordinator.queue.add("t1");
    await until("it is done", () => world.worker.counts.completed === 1);
    expect(world.worker.counts.lost).toBe(0);
  });

  it("goes on with the work in hand while the coordinator is down, and backs off its claims", async () => {
    const failures: number[] = [];
    await using world = await working(
      () => sleep(1_200),
      { leaseTtlMs: 5_000, paceMs: 1_000 },
      { concurrency: 2, onClaimError: (_, n) => failures.push(n) },
    );
    world.coordinator.queue.add("t1");
    await until("it runs", () => world.worker.counts.running === 1);
    world.coordinator.behaviour.instead = () => unavailable();
    const before = world.coordinator.calls("claim").length;
    await sleep(2_000);
    expect(world.coordinator.calls("claim").length - before).toBeLessThanOrEqual(6);
    expect(failures.slice(0, 3)).toEqual([1, 2, 3]);
    world.coordinator.behaviour.instead = () => undefined;
    await until("it is done", () => world.worker.counts.completed === 1, 12_000);
    expect(world.worker.counts.lost).toBe(0);
  });

  it("waits as the hint says between empty claims", async () => {
    await using world = await working(forever, { retryAfterMs: 150 }, { waitMs: 0 });
    await until("five claims", () => world.coordinator.calls("claim").length >= 5);
    const claims = world.coordinator.calls("claim");
    const gaps = claims.slice(1).map(({ at }, n) => at - (claims[n]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(150);
    expect(claims.map(({ body }) => body.attempt)).toEqual(claims.map((_, n) => n));
  });

  it("lets the server wait for a task, not always equally long", async () => {
    await using world = await working(forever, { retryAfterMs: 1 }, { waitMs: 100 });
    await until("ten claims", () => world.coordinator.calls("claim").length >= 10);
    const waits = world.coordinator.calls("claim").map(({ body }) => body.wait_ms);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(80);
    expect(Math.max(...waits)).toBeLessThanOrEqual(100);
    expect(new Set(waits).size).toBeGreaterThan(1);
  });

  it("fires the soft deadline by durations, whatever the two clocks say", async () => {
    let after = 0;
    await using world = await working(
      async (_, { softDeadline }) => {
        const start = performance.now();
        await sleep(5_000, softDeadline).catch(() => {});
        after = performance.now() - start;
      },
      { softMs: 400 },
    );
    world.coordinator.queue.add("t1");
    await until("it is done", () => world.worker.counts.completed === 1);
    expect(after).toBeGreaterThan(300);
    expect(after).toBeLessThan(1_000);
  });

  it("trusts a lease to the hard time limit and no longer, however long its ttl and its renewals", async () => {
    const losses: { reason: string; after: number }[] = [];
    await using world = await working(
      async (_, { signal }) => {
        await sleep(10_000, signal).catch(() => {});
        const claimedAt = world.coordinator.queue.claimed.at(-1)?.claimedAt ?? 0;
        losses.push({ reason: signal.reason?.reason, after: performance.now() - claimedAt });
      },
      { leaseTtlMs: 3_600_000, limitMs: 1_500, paceMs: 100 },
      { waitMs: 4_000 },
    );
    // It waits at the coordinator for longer than the limit, which counts from the claim and not from the call.
    await sleep(2_000);
    world.coordinator.queue.add("t1");
    await until("its lease is lost", () => losses.length === 1);
    expect(losses[0]?.reason).toBe("time_limit");
    expect(losses[0]?.after).toBeGreaterThan(500);
    await world.worker.stop();
    expect(world.coordinator.queue.completed).toEqual([]);
  });

  it.each([
    ["longer", 1_500],
    ["shorter", 300],
  ])(
    "works on what it gets after an outage that outlasted a time limit %s than the ttl",
    async (_, limitMs) => {
      await using world = await working(
        () => "done",
        { leaseTtlMs: 600, limitMs, paceMs: 100 },
        { waitMs: 0 },
      );
      world.coordinator.behaviour.instead = ({ path }) =>
        path.endsWith("/claim") ? unavailable() : undefined;
      await sleep(2_000);
      world.coordinator.queue.add("t1");
      world.coordinator.behaviour.instead = () => undefined;
      await until("it is done", () => world.worker.counts.completed === 1);
      expect(world.worker.counts.lost).toBe(0);
    },
  );

  it("gives the payload's own text beside its value", async () => {
    const texts: string[] = [];
    await using world = await working((_, { task }) => {
      texts.push(task.payloadText);
      return task;
    });
    const text = '{"n": 9007199254740993, "s":"\\u2028,}]"}';
    world.coordinator.queue.ready.push({ id: "t1", text, delivery: 0 });
    await until("it is done", () => world.worker.counts.completed === 1);
    expect(texts).toEqual([text]);
    expect(world.coordinator.queue.completed[0]?.result).not.toHaveProperty("payloadText");
  });
});

describe.concurrent("a worker that stops", { timeout: 20_000 }, () => {
  it("claims nothing any more, lets the work end, and leaves", async () => {
    await using world = await working(() => sleep(500), {}, { graceMs: 5_000 });
    world.coordinator.queue.add("t1");
    world.coordinator.queue.add("t2");
    await until("it runs", () => world.worker.counts.running === 1);
    const before = world.coordinator.calls("claim").length;
    await world.worker.stop();
    expect(world.worker.counts).toMatchObject({ running: 0, completed: 1, handedBack: 0 });
    expect(world.coordinator.calls("claim")).toHaveLength(before);
    expect(world.coordinator.calls("leave")).toHaveLength(1);
    expect(world.worker.pod.state).toBe("left");
  });

  it("hands its tasks back when the grace is over, though their handlers do not heed the signal", async () => {
    await using world = await working(forever, {}, { graceMs: 100, concurrency: 2 });
    world.coordinator.queue.add("t1");
    world.coordinator.queue.add("t2");
    await until("both run", () => world.worker.counts.running === 2);
    await world.worker.stop();
    expect(world.coordinator.queue.ready.map(({ delivery }) => delivery)).toEqual([0, 0]);
    expect(world.coordinator.calls("complete")).toEqual([]);
  });

  it("hands back what a claim under way may have got unheard", async () => {
    await using world = await working(forever, {}, { waitMs: 20_000 });
    const { queue, behaviour } = world.coordinator;
    behaviour.afterwards = ({ path }) =>
      path.endsWith("/claim") && world.worker.pod.state === "ready" ? { fault: "hang" } : undefined;
    queue.add("t1");
    await until("it is claimed", () => queue.claimed.length === 1);
    await world.worker.stop();
    expect(queue.failed).toMatchObject([{ id: "t1", body: { reason: "no_capacity", delay_ms: 0 } }]);
    expect(world.worker.counts.running).toBe(0);
  });

  it("stops when the operator asks its pod to drain", async () => {
    await using world = await working(forever);
    world.coordinator.behaviour.directive = "drain";
    await world.worker.done;
    expect(world.worker.pod.state).toBe("left");
  });

  it("stops when a newer process takes its pod's name, losing what it has in hand", async () => {
    await using world = await working((_, { signal }) => sleep(10_000, signal));
    world.coordinator.queue.add("t1");
    await until("it runs", () => world.worker.counts.running === 1);
    world.coordinator.behaviour.instead = ({ path }) =>
      path.endsWith("/heartbeat") ? problem(409, "stale-instance") : undefined;
    await world.worker.done;
    expect(world.worker.pod.state).toBe("replaced");
    await until("the handler has heard", () => world.worker.counts.lost === 1);
    expect(world.coordinator.calls("leave")).toEqual([]);
  });

  it("ends in bounded time when the coordinator is down", async () => {
    await using world = await working(forever, {}, { waitMs: 20_000 });
    await until("it claims", () => world.coordinator.calls("claim").length === 1);
    world.coordinator.behaviour.instead = () => ({ fault: "reset" });
    const start = performance.now();
    await world.worker.stop();
    expect(performance.now() - start).toBeLessThan(6_000);
  });

  it("leaves alone a pod that was given to it", async () => {
    await using coordinator = await startFakeCoordinator();
    const client = createClient({ url: coordinator.url, key: KEY });
    const pod = await client.fleet("render").join({ cluster: "eu", pod: "w-0", handleSignals: false });
    const worker = await client.queue("infer").work(() => "done", { pod, waitMs: 200 });
    coordinator.queue.add("t1");
    await until("it is done", () => worker.counts.completed === 1);
    await worker.stop();
    expect(pod.state).toBe("ready");
    await pod.leave();
  });
});

describe.concurrent("starting a worker", () => {
  it("asks the queue for its fleet when it was not told", async () => {
    await using coordinator = await startFakeCoordinator();
    coordinator.behaviour.instead = ({ path }) =>
      path === "/v1/queues/infer"
        ? { body: { queue: "infer", ready: 0, config: { fleet: "render", lease_ttl_ms: 1_000 } } }
        : undefined;
    const queue = createClient({ url: coordinator.url, key: KEY }).queue("infer");
    await using worker = await queue.work(forever, { cluster: "eu", pod: "w-0", handleSignals: false });
    expect(worker.pod.state).toBe("ready");
    expect(coordinator.calls("heartbeat")[0]?.path).toBe("/v1/fleets/render/heartbeat");
  });

  it("says that the fleet must be given when the key may not read the queue", async () => {
    await using coordinator = await startFakeCoordinator();
    coordinator.behaviour.instead = () => problem(403, "wrong-scope");
    const queue = createClient({ url: coordinator.url, key: KEY }).queue("infer");
    const starting = queue.work(forever, { cluster: "eu", pod: "w-0" });
    await expect(starting).rejects.toThrow(TypeError);
    await expect(starting).rejects.toThrow("its fleet must be given");
  });

  it("refuses what cannot work before anything is sent", async () => {
    await using coordinator = await startFakeCoordinator();
    const queue = createClient({ url: coordinator.url, key: KEY }).queue("infer");
    const who = { cluster: "eu", pod: "w-0", fleet: "render" };
    await expect(queue.work(forever, { ...who, concurrency: 0 })).rejects.toThrow("concurrency");
    await expect(queue.work(forever, { ...who, waitMs: 25_001 })).rejects.toThrow("waitMs");
    await expect(queue.work(forever, { pod: {} as never })).rejects.toThrow("join()");
    expect(coordinator.seen).toEqual([]);
  });
});
