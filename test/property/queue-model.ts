/** What a queue and its fleet must be, in plain lists: the reference that the real one is held against. */

export interface Body {
  id?: string;
  payload: unknown;
  priority: number;
  class: string;
  delay_ms: number;
  max_deliveries?: number;
  time_limit_ms?: number;
}

export interface Task {
  id: string;
  body: Body;
  turn: number;
  rank: number;
  enqueued_at: number;
  age_at: number;
  state: "delayed" | "ready" | "in_flight" | "completed" | "dead" | "cancelled";
  due_at: number;
  deliveries: number;
  deferred: number;
  lease?: Lease;
  /** How the delivery before ended, to answer a repeat. */
  ended?: { lease: string; how: "complete" | "fail"; state: string };
}

interface Lease {
  id: string;
  pod: string;
  expires_at: number;
  deadline_at: number;
}

export const LEASE_TTL = 1_000;
export const SLOT_TTL = 3_000;
export const TIME_LIMIT = 3_000;
export const MAX_DELIVERIES = 3;

export class Model {
  now: number;
  paused = false;
  fleetPaused = false;
  mixed = false;
  maxBacklog: number | undefined;
  classes: Record<string, number> = { normal: 0.8, high: 1 };
  readonly pods = new Set<string>();
  readonly tasks = new Map<string, Task>();
  /** Plain leases: id to holder and end. */
  readonly slots = new Map<string, { pod: string; expires_at: number }>();
  readonly requests = new Map<string, string[]>();
  completions = 0;

  constructor(now: number) {
    this.now = now;
  }

  advance(ms: number): void {
    this.now += ms;
    for (const [id, slot] of this.slots) if (slot.expires_at <= this.now) this.slots.delete(id);
    for (const task of this.tasks.values()) {
      if (task.state === "delayed" && task.due_at <= this.now) task.state = "ready";
      if (task.lease && task.lease.expires_at <= this.now) {
        delete task.lease;
        task.state = task.deliveries < this.maxOf(task) ? "ready" : "dead";
      }
    }
  }

  maxOf(task: Task): number {
    return task.body.max_deliveries ?? MAX_DELIVERIES;
  }

  in(state: Task["state"]): Task[] {
    return [...this.tasks.values()].filter((task) => task.state === state);
  }

  get busy(): number {
    return this.slots.size + this.in("in_flight").length;
  }

  capacity(className: string): number {
    const ratio = this.classes[className] ?? this.classes.normal ?? 1;
    return Math.max(1, Math.floor((Math.round(ratio * 10_000) * this.pods.size) / 10_000));
  }

  counts() {
    const ready = this.in("ready");
    const oldest = Math.min(...ready.map(({ age_at }) => age_at));
    return {
      ready: ready.length,
      delayed: this.in("delayed").length,
      in_flight: this.in("in_flight").length,
      dead: this.in("dead").length,
      backlog: ready.length + this.in("in_flight").length,
      oldest_ready_ms: ready.length === 0 ? 0 : this.now - oldest,
    };
  }

  /** What a call for this body must answer, with the body taken in where it is. */
  enqueue(body: Body, id: string, turn = 0): { state: string; duplicate: boolean } | { code: string } {
    const known = this.tasks.get(id);
    if (known) {
      const same = JSON.stringify({ ...known.body, id: 0 }) === JSON.stringify({ ...body, id: 0 });
      return same ? { state: known.state, duplicate: true } : { code: "id-conflict" };
    }
    if (this.classes[body.class] === undefined) return { code: "unknown-class" };
    if (this.maxBacklog !== undefined && this.counts().backlog >= this.maxBacklog)
      return { code: "queue-full" };
    const state = body.delay_ms > 0 ? "delayed" : "ready";
    const age_at = this.now + body.delay_ms;
    const rank = this.rankOf(body.class);
    const task = { id, body, turn, rank, enqueued_at: this.now, age_at, due_at: age_at } as const;
    this.tasks.set(id, { ...task, state, deliveries: 0, deferred: 0 });
    return { state, duplicate: false };
  }

  rankOf(className: string): number {
    const ratio = this.classes[className] ?? this.classes.normal ?? 1;
    return Math.floor((10_000 - Math.round(ratio * 10_000)) * 0.08);
  }

  /** The tasks that a claim must give, best first; they are marked taken by `hand`. */
  choose(max: number): { tasks: Task[]; closed: boolean } {
    const order = (task: Task) => [task.rank, 9 - task.body.priority, task.age_at, task.turn] as const;
    const sorted = () =>
      this.in("ready").sort((one, other) => {
        const [a, b] = [order(one), order(other)];
        const at = a.findIndex((value, place) => value !== b[place]);
        return at < 0 ? (one.id < other.id ? -1 : 1) : (a[at] as number) - (b[at] as number);
      });
    const tasks: Task[] = [];
    let [from, looks] = [0, 0];
    for (;;) {
      const look = () => sorted().filter(({ rank }) => rank >= from);
      const size = max - tasks.length;
      const isStale = (task: Task) => task.rank !== this.rankOf(task.body.class);
      for (; this.mixed && looks < 4 && look().slice(0, size).some(isStale); looks++) {
        for (const task of look()) task.rank = this.rankOf(task.body.class);
        if (tasks.length === 0) from = 0;
      }
      const window = look().slice(0, size);
      const open = window.findIndex(
        (task, at) => this.busy + tasks.length + at >= this.capacity(task.body.class),
      );
      tasks.push(...(open < 0 ? window : window.slice(0, open)));
      if (open < 0) return { tasks, closed: false };
      if (!this.mixed || tasks.length === max) return { tasks, closed: true };
      from = (window[open]?.rank ?? 0) + 1;
      if (look().length === 0) return { tasks, closed: true };
    }
  }

  hand(task: Task, lease: string, pod: string): void {
    const deadline_at = this.now + (task.body.time_limit_ms ?? TIME_LIMIT);
    task.state = "in_flight";
    task.deliveries += 1;
    task.lease = { id: lease, pod, deadline_at, expires_at: Math.min(this.now + LEASE_TTL, deadline_at) };
  }

  /** The task whose present delivery this lease is. */
  flying(lease: string): Task | undefined {
    return this.in("in_flight").find((task) => task.lease?.id === lease);
  }

  private end(task: Task, how: "complete" | "fail", state: Task["state"]): void {
    task.ended = { lease: task.lease?.id ?? "", how, state };
    delete task.lease;
    task.state = state;
  }

  complete(lease: string): object {
    const task = this.flying(lease);
    if (task) {
      this.end(task, "complete", "completed");
      this.completions += 1;
      return { completed: true, already: false };
    }
    return this.endedBy(lease, "complete") ? { completed: true, already: true } : { code: "stale-lease" };
  }

  fail(
    lease: string,
    { delay_ms, retry = true, reason }: { delay_ms: number; retry?: boolean; reason?: string },
  ) {
    const task = this.flying(lease);
    const before = this.endedBy(lease, "fail");
    if (!task) return before ? { state: before.ended?.state, already: true } : { code: "stale-lease" };
    const deferred = reason === "no_capacity";
    if (!retry || (task.deliveries >= this.maxOf(task) && !deferred)) this.end(task, "fail", "dead");
    else {
      if (deferred) task.deliveries -= 1;
      if (deferred) task.deferred += 1;
      task.due_at = this.now + delay_ms;
      this.end(task, "fail", delay_ms === 0 ? "ready" : "delayed");
    }
    return { state: task.state, already: false };
  }

  private endedBy(lease: string, how: "complete" | "fail"): Task | undefined {
    return [...this.tasks.values()].find(
      ({ ended, state }) =>
        ended?.lease === lease &&
        ended.how === how &&
        (how === "complete" ? state === "completed" : state !== "completed" && state !== "cancelled"),
    );
  }

  cancel(id: string): object {
    const task = this.tasks.get(id);
    if (!task) return { code: "not-found" };
    if (task.state === "completed" || task.state === "dead") return { code: "request-ended" };
    delete task.lease;
    task.state = "cancelled";
    return { id, state: "cancelled" };
  }

  /** The leases of this pod that a heartbeat must report lost; the others are renewed. */
  beat(pod: string, leases: readonly string[]): string[] {
    this.pods.add(pod);
    return leases.filter((id) => {
      const slot = this.slots.get(id);
      if (slot?.pod === pod) slot.expires_at = Math.max(slot.expires_at, this.now + SLOT_TTL);
      const lease = this.flying(id)?.lease;
      if (lease?.pod === pod)
        lease.expires_at = Math.max(lease.expires_at, Math.min(this.now + LEASE_TTL, lease.deadline_at));
      return slot?.pod !== pod && lease?.pod !== pod;
    });
  }

  leave(pod: string): { left: boolean; released: string[] } {
    const released: string[] = [];
    for (const [id, slot] of this.slots) {
      if (slot.pod !== pod) continue;
      released.push(id);
      this.slots.delete(id);
    }
    for (const task of this.in("in_flight")) {
      if (task.lease?.pod !== pod) continue;
      released.push(task.lease.id);
      delete task.lease;
      task.state = "ready";
      task.deliveries -= 1;
      task.deferred += 1;
    }
    return { left: this.pods.delete(pod), released: released.sort() };
  }

  redrive(ids?: readonly string[]): number {
    const dead = this.in("dead").filter(({ id }) => ids?.includes(id) ?? true);
    for (const task of dead) Object.assign(task, { state: "ready", deliveries: 0, deferred: 0 });
    return dead.length;
  }

  purge(state: "ready" | "delayed" | "dead"): number {
    const gone = this.in(state);
    for (const { id } of gone) this.tasks.delete(id);
    return gone.length;
  }
}
