import { expect, inject, test } from "vitest";
import { fleetOf } from "../support/fleet.ts";
import { queueOf } from "../support/queue.ts";
import { Random } from "../support/random.ts";
import { type Heard, World } from "../support/world.ts";
import {
  type Body,
  LEASE_TTL,
  MAX_DELIVERIES,
  Model,
  SLOT_TTL,
  type Task,
  TIME_LIMIT,
} from "./queue-model.ts";

const RUNS = 8;
const STEPS = 630;
const DENIED_MS = 200;
const PODS = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];
/** A lease that the queue never made. */
const MADE_UP =
  "t/a/p0//normal/1000/infer/1790000003000/1790000000000/00/t1/normal/0/1790000000000//160///h/1/0///0";
const POLICIES: Record<string, number>[] = [
  { normal: 0.8, high: 1 },
  { normal: 0.5, high: 1, low: 0.2 },
  { normal: 0.8, high: 0.3, low: 1 },
  { normal: 1 },
];

/** One queue beside its model: each step does something to both and compares what they say. */
class Run {
  readonly random: Random;
  // The runtime allows 10,000 timers at once, and a call of the store leaves one until its timeout.
  readonly world = new World({ timeoutMs: 2_000 });
  readonly model = new Model(this.world.now);
  readonly log: string[] = [];
  readonly queue = queueOf(this.world);
  /** Its store does what it is asked, but the answer never arrives. */
  readonly lossy = queueOf(this.world.faulty("truncated", "timers").isolate);
  readonly fleet = fleetOf(this.world);
  /** Every lease and request ever heard of, for late and repeated calls. */
  readonly leases: { id: string; pod: string }[] = [];
  readonly asked: { pod: string; request_id: string; max: number }[] = [];
  count = 0;
  /** Until when this isolate may say no from memory to a claim without a name. */
  deniedUntil = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  async start(): Promise<void> {
    await this.configure();
    await this.setPolicy();
    for (const pod of PODS) await this.beat(pod, []);
  }

  // biome-ignore format: the share of each step beside its name.
  readonly steps: [share: number, name: string, step: () => Promise<void>][] = [
    [20, "enqueue", () => this.enqueue()],
    [6, "batch", () => this.batch()],
    [21, "claim", () => this.claim()],
    [4, "claim unnamed", () => this.claimUnnamed()],
    [3, "claim again", () => this.claimAgain()],
    [16, "complete", () => this.complete(this.lease())],
    [10, "fail", () => this.fail(this.lease())],
    [8, "beat", () => this.renew()],
    [12, "advance", () => this.advance(this.random.pick([0, 1, 20, 200, 500, LEASE_TTL]))],
    [1, "crash", () => this.advance(this.random.int(LEASE_TTL, 10_000))],
    [4, "cancel", () => this.cancel()],
    [3, "redrive", () => this.redrive()],
    [0.4, "purge", () => this.purge()],
    [2, "leave", () => this.leave()],
    [6, "acquire", () => this.acquire()],
    [4, "release", () => this.release()],
    [1.5, "configure", () => this.reconfigure()],
    [1.5, "policy", () => this.changePolicy()],
    [2, "sweep", () => this.world.app.scheduled()],
  ];

  async step(): Promise<void> {
    let left = this.random.next() * this.steps.reduce((sum, [share]) => sum + share, 0);
    for (const [share, name, step] of this.steps) {
      left -= share;
      if (left >= 0) continue;
      this.log.push(`${this.log.length} ${name}`);
      await step();
      return this.compare();
    }
  }

  async compare(): Promise<void> {
    const ids = [...this.model.tasks.keys()];
    const task = ids.length > 0 ? this.model.tasks.get(this.random.pick(ids)) : undefined;
    const [counts, status, seen] = await Promise.all([
      this.queue.status(),
      this.fleet.status(),
      task && this.queue.task(task.id),
    ]);
    expect(counts).toMatchObject(this.model.counts());
    expect(status).toMatchObject({ busy: this.model.busy, live: this.model.pods.size });
    if (!task) return;
    const { id, state, deliveries, deferred, enqueued_at } = task;
    expect(seen?.body).toMatchObject({ id, state, deliveries, deferred, enqueued_at });
    expect(deliveries).toBeLessThanOrEqual(this.model.maxOf(task));
  }

  /** Asks; sometimes the answer is lost and the call is made again. */
  async ask(call: (queue: typeof this.queue) => Promise<Heard>): Promise<{ heard: Heard; again: boolean }> {
    if (!this.random.chance(0.1)) return { heard: await call(this.queue), again: false };
    this.log.push("  answer lost");
    expect((await call(this.lossy)).status).toBe(503);
    return { heard: await call(this.queue), again: true };
  }

  private body(): Body {
    const { random } = this;
    return {
      payload: random.int(0, 2),
      priority: random.pick([0, 0, 0, 5, 9]),
      class: random.pick(["normal", "normal", "normal", "high", "low"]),
      delay_ms: random.pick([0, 0, 0, 1, 400, 1_500]),
      ...(random.chance(0.2) ? { max_deliveries: random.int(1, 4) } : {}),
      ...(random.chance(0.2) ? { time_limit_ms: random.pick([1_000, 2_000]) } : {}),
    };
  }

  /** A new task mostly; else one that was sent before, with the same body or with another. */
  private sending(): Body & { id: string } {
    const known = [...this.model.tasks.values()];
    if (known.length > 0 && this.random.chance(0.25)) {
      const { id, body } = this.random.pick(known);
      return { ...(this.random.chance(0.8) ? body : this.body()), id };
    }
    this.count += 1;
    return { ...this.body(), id: `t${this.count}` };
  }

  async enqueue(): Promise<void> {
    const body = this.sending();
    const expected = this.model.enqueue(body, body.id);
    const { heard, again } = await this.ask((queue) => queue.enqueue({ ...body }));
    if ("state" in expected && expected.state === "ready") this.deniedUntil = 0;
    expect(heard.body).toMatchObject(
      again && "duplicate" in expected ? { ...expected, duplicate: true } : expected,
    );
  }

  async batch(): Promise<void> {
    const bodies = Array.from({ length: this.random.int(1, 10) }, () => this.sending());
    const expected = bodies.map((body, turn) => ({
      id: body.id,
      ...this.model.enqueue(body, body.id, turn),
    }));
    const { body } = await this.queue.batch(bodies.map((one) => ({ ...one })));
    if (expected.some((one) => "state" in one && one.state === "ready")) this.deniedUntil = 0;
    expect(body.tasks).toEqual(expected);
  }

  async claim(): Promise<void> {
    const call = {
      pod: this.random.pick(PODS),
      max: this.random.int(1, 10),
      request_id: crypto.randomUUID(),
    };
    const { model } = this;
    const paused = model.paused || model.fleetPaused;
    const { tasks, closed } = paused ? { tasks: [], closed: false } : model.choose(call.max);
    const { heard } = await this.ask((queue) => queue.claim(call));
    this.expectTasks(call, heard, tasks, closed);
    if (tasks.length === 0) return;
    model.requests.set(
      call.request_id,
      tasks.map(({ lease }) => lease?.id ?? ""),
    );
    this.asked.push(call);
  }

  /** As `claim`, but this one may be said no to from memory. */
  async claimUnnamed(): Promise<void> {
    const call = { pod: this.random.pick(PODS), max: this.random.int(1, 10) };
    const { model } = this;
    const heard = await this.queue.claim(call);
    if (model.paused || model.fleetPaused) return expect(heard.body.reason).toBe("paused");
    if (this.world.lines.at(-1)?.trips === 0) {
      expect(heard.body.tasks).toEqual([]);
      return expect(model.now).toBeLessThan(this.deniedUntil);
    }
    const { tasks, closed } = model.choose(call.max);
    this.expectTasks(call, heard, tasks, closed);
  }

  private expectTasks(call: { pod: string }, heard: Heard, tasks: Task[], closed: boolean): void {
    const { model } = this;
    const paused = model.paused || model.fleetPaused;
    this.deniedUntil = model.now + DENIED_MS;
    expect(heard.body.tasks.map(({ id }: { id: string }) => id)).toEqual(tasks.map(({ id }) => id));
    const reason = paused ? "paused" : closed ? "at_capacity" : "empty";
    if (tasks.length === 0) expect(heard.body.reason).toBe(reason);
    for (const [at, task] of tasks.entries()) {
      const handed = heard.body.tasks[at];
      model.hand(task, handed.lease.id, call.pod);
      const { payload, priority, class: className } = task.body;
      const { deadline_at, expires_at } = task.lease ?? {};
      const told = { payload, priority, class: className, delivery: task.deliveries, deadline_at };
      expect(handed).toMatchObject({ ...told, enqueued_at: task.enqueued_at, lease: { expires_at } });
      this.leases.push({ id: handed.lease.id, pod: call.pod });
    }
  }

  /** A call of this isolate that did something ends what it remembers. */
  private seen(outcome: object): void {
    if (!("code" in outcome)) this.deniedUntil = 0;
  }

  async claimAgain(): Promise<void> {
    if (this.asked.length === 0) return;
    const call = this.random.pick(this.asked);
    const alive = (this.model.requests.get(call.request_id) ?? []).filter((lease) =>
      this.model.flying(lease),
    );
    const { body } = await this.queue.claim(call);
    if (alive.length === 0) return expect(body.code).toBe("request-ended");
    expect(body.tasks.map(({ lease }: { lease: { id: string } }) => lease.id)).toEqual(alive);
  }

  /** One that is live mostly, else any that ever was. */
  private lease(): string {
    const flying = this.model.in("in_flight");
    if (flying.length > 0 && this.random.chance(0.85)) return this.random.pick(flying).lease?.id ?? "";
    return this.leases.length > 0 ? this.random.pick(this.leases).id : MADE_UP;
  }

  async complete(lease: string): Promise<void> {
    const expected = this.model.complete(lease);
    const { heard, again } = await this.ask((queue) => queue.complete(lease, { result: 1 }));
    this.seen(expected);
    expect(heard.body).toMatchObject(
      again && "completed" in expected ? { ...expected, already: true } : expected,
    );
  }

  async fail(lease: string): Promise<void> {
    const kinds = [{}, {}, { retry: false }, { reason: "no_capacity" }];
    const how = { delay_ms: this.random.pick([0, 1, 800, 2_500]), ...this.random.pick(kinds) };
    const expected = this.model.fail(lease, how);
    const { heard, again } = await this.ask((queue) => queue.fail(lease, how));
    this.seen(expected);
    expect(heard.body).toMatchObject(
      again && "already" in expected ? { ...expected, already: true } : expected,
    );
  }

  async beat(pod: string, leases: string[]): Promise<void> {
    const lost = this.model.beat(pod, leases);
    const { body } = await this.fleet.beat({ pod, leases });
    expect(body.lost.sort()).toEqual(lost.sort());
  }

  async renew(): Promise<void> {
    const pod = this.random.pick(PODS);
    const all = [...this.leases, ...[...this.model.slots].map(([id, slot]) => ({ id, pod: slot.pod }))];
    const held = all.filter((one) => one.pod === pod).map(({ id }) => id);
    const listed = [...new Set(held.slice(-40))].filter(() => this.random.chance(0.8));
    await this.beat(pod, listed);
  }

  async advance(ms: number): Promise<void> {
    this.world.advance(ms);
    this.model.advance(ms);
  }

  private anyId(): string {
    const ids = [...this.model.tasks.keys()];
    return ids.length > 0 && this.random.chance(0.95) ? this.random.pick(ids) : "nobody";
  }

  async cancel(): Promise<void> {
    const id = this.anyId();
    const expected = this.model.cancel(id);
    expect((await this.queue.cancel(id)).body).toMatchObject(expected);
    this.seen(expected);
  }

  async redrive(): Promise<void> {
    const ids = this.random.chance(0.5) ? undefined : [this.anyId(), this.anyId()];
    const redriven = this.model.redrive(ids);
    expect((await this.queue.redrive({ ids })).body).toEqual({ redriven });
    this.deniedUntil = 0;
  }

  async purge(): Promise<void> {
    const state = this.random.pick(["ready", "delayed", "dead"] as const);
    const purged = this.model.purge(state);
    expect((await this.queue.purge(state)).body).toEqual({ purged });
  }

  async leave(): Promise<void> {
    const pod = this.random.pick(PODS);
    const expected = this.model.leave(pod);
    const { body } = await this.fleet.leave({ pod });
    this.deniedUntil = 0;
    expect({ ...body, released: body.released.sort() }).toEqual(expected);
  }

  async acquire(): Promise<void> {
    const { model } = this;
    const pod = this.random.pick(PODS);
    const granted = !model.fleetPaused && model.busy < model.capacity("normal");
    const { body } = await this.fleet.acquire({ pod, ttl_ms: SLOT_TTL, request_id: crypto.randomUUID() });
    expect(body.granted).toBe(granted);
    if (granted) model.slots.set(body.lease.id, { pod, expires_at: model.now + SLOT_TTL });
  }

  async release(): Promise<void> {
    const { slots } = this.model;
    const ids = [...slots.keys()].filter(() => this.random.chance(0.5));
    // A task's lease is not released by this.
    const task = this.random.chance(0.3) ? this.leases.slice(-1).map(({ id }) => id) : [];
    if (ids.length + task.length === 0) return;
    const { body } = await this.fleet.release(...ids, ...task);
    expect({ released: body.released.sort(), missing: body.missing }).toEqual({
      released: ids.sort(),
      missing: task,
    });
    for (const id of ids) slots.delete(id);
    if (ids.length > 0) this.deniedUntil = 0;
  }

  private async configure(): Promise<void> {
    const { paused, maxBacklog } = this.model;
    await this.queue.configure({
      lease_ttl_ms: LEASE_TTL,
      time_limit_ms: TIME_LIMIT,
      max_deliveries: MAX_DELIVERIES,
      paused,
      ...(maxBacklog === undefined ? {} : { max_backlog: maxBacklog }),
    });
  }

  private async setPolicy(): Promise<void> {
    const classes = Object.fromEntries(
      Object.entries(this.model.classes).map(([name, ratio]) => [name, { ratio }]),
    );
    await this.fleet.policy({ ttl_ms: 86_400_000, classes, paused: this.model.fleetPaused });
  }

  async reconfigure(): Promise<void> {
    this.model.paused = this.random.chance(0.15);
    this.model.maxBacklog = this.random.chance(0.4) ? this.random.int(5, 40) : undefined;
    await this.configure();
    await this.advance(5_000);
  }

  async changePolicy(): Promise<void> {
    const classes = this.random.pick(POLICIES);
    this.model.fleetPaused = this.random.chance(0.1);
    this.model.mixed ||= JSON.stringify(classes) !== JSON.stringify(this.model.classes);
    this.model.classes = classes;
    await this.setPolicy();
    await this.advance(5_000);
  }

  /** At the end nothing is missing: all that was taken in ends, each once. */
  async drain(): Promise<void> {
    Object.assign(this.model, { paused: false, fleetPaused: false, maxBacklog: undefined });
    await this.configure();
    await this.setPolicy();
    await this.advance(40_000);
    this.model.redrive();
    await this.queue.redrive();
    for (let turn = 0; turn < 400 && this.model.counts().backlog > 0; turn++) {
      await this.claim();
      for (const { lease } of this.model.in("in_flight")) await this.complete(lease?.id ?? "");
    }
    expect(this.model.counts()).toMatchObject({ backlog: 0, delayed: 0, dead: 0 });
    await this.compare();
    for (const { id, state } of this.model.tasks.values()) {
      expect((await this.queue.task(id)).body.state).toBe(state);
    }
  }
}

test("a queue is what its model says after every step, whatever happens to it", async () => {
  const seed = inject("seed");
  const runs = Array.from({ length: RUNS }, (_, at) => new Run(seed + at));
  await Promise.all(
    runs.map(async (run, at) => {
      try {
        await run.start();
        for (let step = 0; step < STEPS; step++) await run.step();
        await run.drain();
      } catch (error) {
        const last = run.log.slice(-12).join("\n");
        const faults = run.world.lines
          .filter(({ level }) => level === "error")
          .map((line) => JSON.stringify(line));
        const detail = [`last steps:\n${last}`, ...faults].join("\n");
        throw new Error(`run ${at} of FLEETGATE_SEED=${seed}, ${detail}`, { cause: error });
      }
    }),
  );
  // That enough was done for it to mean something; one run alone may have been paused for long.
  const completions = runs.reduce((sum, { model }) => sum + model.completions, 0);
  expect(completions).toBeGreaterThan(50 * RUNS);
}, 300_000);
