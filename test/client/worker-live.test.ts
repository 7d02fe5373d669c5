import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JoinOptions, QueueCall, WorkerOptions } from "../../src/client/index.ts";
import { sleep } from "../../src/client/timers.ts";
import { type Live, startLive } from "./support/live.ts";
import { until } from "./support/until.ts";
import { startWorkerProcess, type WorkerProcess } from "./support/worker-process.ts";

const TTL_MS = 2_000;
let live: Live;
let worlds = 0;

/** A fleet and a queue of one test, whose gate lets every pod in, and processes that work for it. */
async function world(config: Partial<QueueCall> = {}) {
  // Long: a busy machine must not cause a lapse where none is meant.
  const name = `q${++worlds}`;
  const queue = live.client.queue(name);
  const fleet = live.fleet(name);
  await fleet.putPolicy({ classes: { normal: { ratio: 1 } } });
  await queue.configure({ fleet: name, lease_ttl_ms: 30_000, ...config });
  return {
    queue,
    fleet,
    add: (id: string, ms: number, more = {}) => queue.enqueue({ id, payload: { ms }, ...more }),
    state: async (id: string) => (await queue.task(id)).state,
    start: (pod: string, work: Partial<JoinOptions & WorkerOptions> = {}) =>
      startWorkerProcess({
        url: live.url,
        key: live.key,
        queue: name,
        work: { cluster: "eu", pod, fleet: name, ...work },
      }),
  };
}

const started = (...workers: WorkerProcess[]) =>
  workers.flatMap((worker) => worker.of("started")).sort((a, b) => a.at - b.at);

// One after the other: with leases this short, processes that start side by side would starve each other of time.
describe("workers against the real coordinator", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLive();
  }, 60_000);
  afterAll(() => live[Symbol.asyncDispose]());

  it("finish their task after SIGTERM, claim no other, leave, and end by themselves", async () => {
    const { queue, fleet, add, state, start } = await world({ lease_ttl_ms: TTL_MS });
    await using worker = await start("w-0", { graceMs: 20_000 });
    await add("t1", 3 * TTL_MS);
    await worker.hear("started");
    worker.child.kill("SIGTERM");
    await add("t2", 1);
    await until("it is out of the count", async () => (await fleet.status()).live === 0);
    expect(await worker.ended).toBe(0);
    expect(await state("t1")).toBe("completed");
    expect(await queue.status()).toMatchObject({ ready: 1, in_flight: 0 });
    expect(await fleet.status()).toMatchObject({ live: 0, draining: 0, busy: 0 });
    expect(started(worker)).toHaveLength(1);
    expect(worker.of("lost")).toEqual([]);
    expect(worker.of("done")[0]?.counts).toMatchObject({ completed: 1, running: 0 });
  });

  it("hand their task back when the grace is over: another starts it within a second", async () => {
    const { queue, add, start } = await world();
    await using worker = await start("w-0", { graceMs: 1_000 });
    await add("t1", 30_000);
    await worker.hear("started");
    await using other = await start("w-1");
    worker.child.kill("SIGTERM");
    await worker.hear("lost");
    await other.hear("started");
    expect(worker.of("lost")).toMatchObject([{ reason: "left" }]);
    const gapMs = (other.of("started")[0]?.at ?? 0) - (worker.of("lost")[0]?.at ?? 0);
    expect(gapMs).toBeLessThan(1_200);
    expect(await worker.ended).toBe(0);
    expect(worker.of("done")[0]?.counts).toMatchObject({ handedBack: 1, completed: 0 });
    expect(await queue.task("t1")).toMatchObject({ state: "in_flight", deliveries: 1 });
  });

  it("end at once on SIGTERM when they are idle, with a claim under way", async () => {
    const { fleet, start } = await world();
    await using worker = await start("w-0", { waitMs: 25_000 });
    const from = performance.now();
    worker.child.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
    expect(performance.now() - from).toBeLessThan(3_000);
    expect((await fleet.status()).live).toBe(0);
  });

  it("take no task that comes after they have stopped, with a claim under way", async () => {
    const { queue, add, state } = await world();
    const work = { cluster: "eu", pod: "w-0", waitMs: 25_000, handleSignals: false };
    const worker = await queue.work(() => "done", work);
    await sleep(500);
    await worker.stop();
    await add("t1", 1);
    await sleep(1_500);
    expect(await state("t1")).toBe("ready");
  });

  it("are replaced after SIGKILL: their task starts again within one ttl", async () => {
    const { add, start } = await world({ lease_ttl_ms: TTL_MS });
    await using worker = await start("w-0");
    await add("t1", 30_000);
    await worker.hear("started");
    await using other = await start("w-1");
    const killedAt = performance.now();
    worker.child.kill("SIGKILL");
    await other.hear("started");
    expect((other.of("started")[0]?.at ?? 0) - killedAt).toBeLessThan(TTL_MS + 1_200);
    expect(other.of("started")[0]).toMatchObject({ id: "t1", delivery: 2 });
  });

  it("run a task of ten ttls once, while another asks for it all the time", async () => {
    const { queue, add, start, state } = await world({ lease_ttl_ms: 1_000 });
    await using worker = await start("w-0");
    await add("t1", 10_000);
    await worker.hear("started");
    await using other = await start("w-1");
    await until("it is done", async () => (await state("t1")) === "completed", 20_000);
    expect(started(worker, other)).toHaveLength(1);
    expect((await queue.task("t1")).deliveries).toBe(1);
  });

  it("stop at the hard time limit, whose task is then delivered again", async () => {
    const { add, start, state } = await world({
      lease_ttl_ms: 1_000,
      time_limit_ms: 2_500,
      max_deliveries: 2,
    });
    await using worker = await start("w-0");
    await add("t1", 60_000);
    await worker.hear("lost", 2);
    expect(worker.of("lost").map(({ reason }) => reason)).toEqual(["time_limit", "time_limit"]);
    await until("it is dead", async () => (await state("t1")) === "dead");
    expect(worker.of("unhandled")).toEqual([]);
  });

  it("hear of a cancelled task, and go on with the next", async () => {
    const { queue, add, start, state } = await world();
    await using worker = await start("w-0");
    await add("t1", 60_000);
    await worker.hear("started");
    await queue.cancel("t1");
    await worker.hear("lost");
    await add("t2", 1);
    await until("the next is done", async () => (await state("t2")) === "completed");
  });

  it("hold no more tasks than they run: what is urgent is next, what is delayed is not early", async () => {
    const { queue, add, start, state } = await world();
    for (const id of ["t1", "t2", "t3", "t4"]) await add(id, 4_000);
    await using one = await start("w-0");
    await using two = await start("w-1");
    await until("both run", () => started(one, two).length === 2);
    expect(await queue.status()).toMatchObject({ ready: 2, in_flight: 2 });
    const addedAt = performance.now();
    await add("late", 1, { delay_ms: 4_500, priority: 9 });
    await add("urgent", 1, { priority: 9 });
    await until("all are done", async () => (await state("late")) === "completed");
    const order = started(one, two);
    expect(order[2]?.id).toBe("urgent");
    expect((order.find(({ id }) => id === "late")?.at ?? 0) - addedAt).toBeGreaterThanOrEqual(4_500);
  });

  it("never run more at once than their concurrency", async () => {
    const { queue, start } = await world();
    await queue.enqueueBatch({ tasks: Array.from({ length: 20 }, () => ({ payload: { ms: 100 } })) });
    await using worker = await start("w-0", { concurrency: 3 });
    await worker.hear("started", 20);
    expect(Math.max(...worker.of("started").map(({ running }) => running))).toBe(3);
  });

  it("complete each of 200 tasks exactly once, over four processes that are killed and replaced", async () => {
    const { queue, fleet, state, start } = await world({ lease_ttl_ms: 1_000, max_deliveries: 20 });
    const ids = Array.from({ length: 200 }, (_, n) => `t${n}`);
    for (const half of [ids.slice(0, 100), ids.slice(100)])
      await queue.enqueueBatch({ tasks: half.map((id) => ({ id, payload: { ms: 50 } })) });
    await using all = new AsyncDisposableStack();
    const hire = async (n: number) => all.use(await start(`w-${n}`, { concurrency: 2 }));
    const workers = await Promise.all([0, 1, 2, 3].map(hire));
    const ended: WorkerProcess[] = [];
    for (let kill = 0; kill < 6; kill++) {
      await sleep(600);
      const place = kill % 4;
      const victim = workers[place] as WorkerProcess;
      victim.child.kill(kill % 3 === 2 ? "SIGTERM" : "SIGKILL");
      workers[place] = await hire(place);
      ended.push(victim);
    }
    const left = async () => {
      const { ready, delayed, in_flight } = await queue.status();
      return ready + delayed + in_flight;
    };
    await until("nothing is left", async () => (await left()) === 0, 30_000);
    for (const worker of workers) worker.child.kill("SIGTERM");
    await Promise.all([...workers, ...ended].map((worker) => worker.ended));
    const states = await Promise.all(ids.map(state));
    expect(new Set(states)).toEqual(new Set(["completed"]));
    expect(await queue.status()).toMatchObject({ dead: 0 });
    // A killed process tells no counts, so this is a lower bound there; nobody may have been told of a 201st.
    const told = [...workers, ...ended].flatMap((worker) => worker.of("done"));
    const completed = told.reduce((sum, { counts }) => sum + counts.completed, 0);
    expect(completed).toBeLessThanOrEqual(200);
    expect([...workers, ...ended].flatMap((worker) => worker.of("unhandled"))).toEqual([]);
    await until("no slot is held", async () => (await fleet.status()).busy === 0);
  });

  it("give back every payload as it was sent", async () => {
    const { queue, fleet } = await world();
    const payloads = [[], {}, "123", "null", null, true, "\u0000", "👩‍🚀\u2028", "ü".repeat(30_000)];
    for (const [n, payload] of payloads.entries()) await queue.enqueue({ id: `t${n}`, payload });
    const got: unknown[] = [];
    const worker = await queue.work((payload) => got.push(payload) && { back: payload }, {
      cluster: "eu",
      pod: "w-0",
      handleSignals: false,
    });
    await until("all are done", () => worker.counts.completed === payloads.length);
    await worker.stop();
    expect(got).toEqual(payloads);
    for (const [n, payload] of payloads.entries())
      expect((await queue.task(`t${n}`)).result).toEqual({ back: payload });
    expect((await fleet.status()).live).toBe(0);
  });

  it("keep digits that JSON.parse would lose in the texts beside the values", async () => {
    const { queue } = await world();
    // What JSON.rawJSON makes is sent as it stands (Node 21 and newer).
    const rawJSON = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
    await queue.enqueue({ id: "t1", payload: { n: rawJSON("9007199254740993") } });
    const { tasks } = await queue.claim({ cluster: "eu", pod: "w-0" });
    expect(tasks[0]?.payloadText).toBe('{"n":9007199254740993}');
    await queue.complete({ lease: tasks[0]?.lease.id ?? "", result: rawJSON("0.10") });
    const done = await queue.task("t1");
    expect([done.result, done.resultText]).toEqual([0.1, "0.10"]);
  });
});
