import { expect } from "vitest";
import { fleetOf, type TestFleet } from "../support/fleet.ts";
import { type AcquireCall, DEFAULT_RULES, Model, type Rules, type Who } from "../support/model.ts";
import { type Heard, World } from "../support/world.ts";
import type { Beat, Operation, Through } from "./operations.ts";

const KEPT_MS = 5_000;
const DENIED_MS = 200;

/** One isolate as the model sees it: the rules it remembers, and what it may answer from memory. */
interface Side {
  fleet: TestFleet;
  loses: boolean;
  rules: Rules;
  rulesUntil: number;
  denials: Map<string, number>;
}

/** A fleet of the real coordinator beside its model; `step` does one operation on both and compares all that shows. */
export class Run {
  // A busy machine is no fault of the store.
  readonly #world = new World({ timeoutMs: 30_000 });
  readonly #model = new Model(this.#world.now);
  readonly #sides: Record<Through | "observer", Side>;
  #lost = 0;

  /** With `watched`, one isolate's scripts end with an error when they touch a key that they did not declare. */
  constructor(watched: boolean) {
    const side = (world: World, loses = false): Side => ({
      fleet: fleetOf(world),
      loses,
      rules: DEFAULT_RULES,
      rulesUntil: 0,
      denials: new Map(),
    });
    this.#sides = {
      0: side(this.#world),
      1: side(this.#world.isolate()),
      2: side(watched ? this.#world.faulty("strict").isolate : this.#world.isolate()),
      observer: side(this.#world.isolate()),
      drops: side(this.#world.faulty("lose", "members").isolate, true),
      refuses: side(this.#world.faulty("error500", "members").isolate, true),
    };
  }

  async step(operation: Operation): Promise<void> {
    await this.#do(operation);
    expect(this.#troubles(), "no isolate had trouble with its store").toEqual([]);
    await Promise.all(Object.values(this.#sides).map(({ fleet }) => fleet.world.settle()));
    await this.#compare();
  }

  /** What isolates whose store behaves had to log of it: none, unless this test or its machine is broken. */
  #troubles(): (string | number | undefined)[] {
    const good = Object.values(this.#sides).filter(({ loses }) => !loses);
    return good.flatMap(({ fleet }) => fleet.world.lines.flatMap(({ cause }) => cause ?? []));
  }

  async #do(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case "beat":
        return this.#beat(operation);
      case "batch":
        return this.#batch(operation);
      case "acquire":
        return this.#acquire(operation);
      case "release":
        return this.#release(operation);
      case "leave":
        return this.#leave(operation);
      case "policy":
        return this.#policy(operation);
      case "advance":
        return this.#advance(operation.ms);
      case "deadline":
        return this.#toDeadline(operation);
      case "purge":
        return this.#world.app.scheduled();
      case "wipe":
        return this.#wipe();
    }
  }

  async #beat(operation: Operation & { kind: "beat" }): Promise<void> {
    const side = this.#sides[operation.through];
    const beat = this.#beatFields(operation);
    const rules = this.#rulesOf(side);
    const heard = await side.fleet.beat(beat.body);
    if (this.#neverRan(operation.through, heard)) return;
    const { stale, joined, lost } = this.#model.beat(
      beat.who,
      operation.state,
      beat.slots,
      beat.leases,
      rules,
    );
    if (side.loses) return;
    expect(heard.status).toBe(stale ? 409 : 200);
    if (stale) return;
    expect(heard.body.lost.sort()).toEqual(lost.sort());
    expect(heard.body.ttl_ms).toBe(rules.ttl_ms);
    if (joined !== undefined) expect("live" in heard.body).toBe(joined);
    if (joined) side.denials.clear();
    if ("live" in heard.body) {
      const { live, busy, capacity } = this.#model.status(rules);
      expect(heard.body).toMatchObject({ live, busy, capacity });
    }
  }

  async #batch(operation: Operation & { kind: "batch" }): Promise<void> {
    const side = this.#sides[operation.through];
    const beats = operation.beats.map((one) => this.#beatFields({ ...one, pod: one.pod % 3 }));
    const rules = this.#rulesOf(side);
    const pods = beats.map(({ body: { cluster: _, ...pod } }) => pod);
    const heard = await side.fleet.batch("a", pods);
    if (this.#neverRan(operation.through, heard)) return;
    const states = operation.beats.map(({ state }) => state);
    const outcomes = beats.map(({ who, slots, leases }, at) =>
      this.#model.beat(who, states[at] ?? "ready", slots, leases, rules),
    );
    if (side.loses) return;
    expect(heard.status).toBe(200);
    expect(heard.body.lost.sort()).toEqual(outcomes.flatMap(({ lost }) => lost).sort());
    expect(heard.body.stale).toEqual(pods.filter((_, at) => outcomes[at]?.stale).map(({ pod }) => pod));
    if (outcomes.some(({ joined }) => joined)) side.denials.clear();
  }

  /** The body of a beat, with leases of this pod and instance, live or not, and one of another's where there is one. */
  #beatFields(beat: Beat) {
    const who = whoOf(beat.pod, beat.instance);
    const known = [...this.#model.leases.values()].filter(({ id }) => !id.startsWith("?"));
    const isMine = (one: Who) =>
      one.cluster === who.cluster && one.pod === who.pod && one.instance === who.instance;
    const own = known.filter(isMine).filter((_, at) => (beat.renew >> (at % 3)) & 1);
    const foreign = beat.foreign ? known.filter((one) => !isMine(one)).slice(-1) : [];
    const leases = [...own, ...foreign].map(({ id }) => id).slice(-100);
    const slots = { "10": 3, "1": 2 }[who.instance] ?? 1;
    return { who, slots, leases, body: { ...fieldsOf(who), slots, state: beat.state, leases } };
  }

  async #acquire(operation: Operation & { kind: "acquire" }): Promise<void> {
    const request = operation.request === undefined ? undefined : `r${operation.request}`;
    // A repeated request has the same body, so its own ttl goes with its name.
    const ttl_ms = operation.request !== undefined && operation.request % 3 === 0 ? 9_000 : undefined;
    const call = { ...whoOf(operation.pod, operation.instance), class: operation.class, request, ttl_ms };
    await this.#ask(operation.through, call);
    if (operation.again !== undefined && request !== undefined) await this.#ask(operation.again, call);
  }

  async #ask(through: Through, call: AcquireCall): Promise<void> {
    const side = this.#sides[through];
    const rules = this.#rulesOf(side);
    const verdict = this.#model.judge(call, rules);
    if (side.loses && verdict.is === "ended or new") return;
    const { request, ttl_ms } = call;
    const body = {
      ...fieldsOf(call),
      class: call.class,
      ...(request && { request_id: request }),
      ...(ttl_ms && { ttl_ms }),
    };
    const heard = await side.fleet.acquire(body);
    if (rules.paused && request === undefined) return expect(heard.body.reason).toBe("paused");
    if (this.#neverRan(through, heard)) return;
    if (side.loses) {
      this.#lost += 1;
      if (verdict.is === "granted" && !verdict.lease) this.#model.grant(call, `?${this.#lost}`, rules);
      return;
    }
    const before = this.#model.status(rules);
    if (heard.body.granted) this.#expectGrant(side, call, heard, rules);
    else if (heard.status === 409)
      expect([verdict.is, heard.body.code]).toEqual([expect.stringContaining("ended"), "request-ended"]);
    else if (heard.body.reason === "paused") expect(rules.paused).toBe(true);
    else {
      expect(heard.body).toMatchObject({ granted: false, reason: "at_capacity" });
      const mayRemember = this.#mayRemember(side, call);
      const isTrue = verdict.is === "at_capacity" || verdict.is === "ended or new";
      expect(
        isTrue || mayRemember,
        `a denial although ${JSON.stringify(verdict)}, ${before.available} free`,
      ).toBe(true);
      side.denials.set(call.class, this.#model.now + DENIED_MS);
    }
  }

  #expectGrant(side: Side, call: AcquireCall, { body }: Heard, rules: Rules): void {
    const verdict = this.#model.judge(call, rules);
    expect(["granted", "ended or new"]).toContain(verdict.is);
    const again = verdict.is === "granted" ? verdict.lease : undefined;
    if (again?.id.startsWith("?")) this.#model.learn(again, body.lease.id);
    const lease = again ?? this.#model.grant(call, body.lease.id, rules);
    const { id, ttl_ms, expires_at } = lease;
    expect(body.lease).toEqual({ id, class: call.class, ttl_ms, expires_at });
    // While paused a repeat is answered without counting.
    if (rules.paused) return;
    const capacity = this.#model.capacity(rules.ratios[call.class]);
    expect(body).toMatchObject({ live: this.#model.count("ready"), busy: this.#model.held.length, capacity });
    if (!again) expect(body.busy).toBeLessThanOrEqual(capacity);
    if (body.busy >= capacity) side.denials.set(call.class, this.#model.now + DENIED_MS);
  }

  #mayRemember(side: Side, call: AcquireCall): boolean {
    // A request with a name is asked of the store: it may hold a lease whose answer was lost.
    return call.request === undefined && this.#model.now < (side.denials.get(call.class) ?? 0);
  }

  async #release(operation: Operation & { kind: "release" }): Promise<void> {
    const side = this.#sides[operation.through];
    const known = [...this.#model.leases.keys()].filter((id) => !id.startsWith("?")).slice(-100);
    const ids = operation.picks.flatMap((pick) => known[pick % known.length] ?? []);
    const all = operation.junk || ids.length === 0 ? [...ids, "p/a/p0/2/0"] : ids;
    const heard = await side.fleet.release(...all);
    if (ids.length > 0 && this.#neverRan(operation.through, heard)) return;
    const released = this.#model.release(ids);
    if (released.length > 0) side.denials.clear();
    if (side.loses && ids.length > 0) return;
    const missing = [...new Set(all)].filter((id) => !released.includes(id));
    expect(heard.body.released.sort()).toEqual([...released].sort());
    expect(heard.body.missing.sort()).toEqual(missing.sort());
  }

  async #leave(operation: Operation & { kind: "leave" }): Promise<void> {
    const side = this.#sides[operation.through];
    const who = whoOf(operation.pod, operation.instance);
    const heard = await side.fleet.leave(fieldsOf(who));
    if (this.#neverRan(operation.through, heard)) return;
    const unknown = this.#model.held.filter(({ id }) => id.startsWith("?"));
    const { left, released } = this.#model.leave(who);
    if (side.loses) return;
    if (left || released.length > 0) side.denials.clear();
    expect(heard.body.left).toBe(left);
    if (unknown.length === 0) expect(heard.body.released.sort()).toEqual(released.sort());
  }

  async #policy({
    through,
    ratio,
    ttl_ms,
    lease_ttl_ms,
    paused,
  }: Operation & { kind: "policy" }): Promise<void> {
    const side = this.#sides[through];
    const classes = { normal: { ratio }, high: { ratio: 1 } };
    await side.fleet.policy({ ttl_ms, lease_ttl_ms, paused, classes });
    this.#model.rules = { ttl_ms, lease_ttl_ms, paused, ratios: { normal: ratio, high: 1 } };
    side.rulesUntil = 0;
    side.denials.clear();
  }

  #advance(ms: number): void {
    this.#world.advance(ms);
    this.#model.now += ms;
  }

  #toDeadline({ pick, offset }: Operation & { kind: "deadline" }): void {
    const ends = [...this.#model.pods.values(), ...this.#model.leases.values()].map(
      ({ expires_at }) => expires_at,
    );
    const coming = ends.map((end) => end + offset - this.#model.now).filter((ms) => ms > 0);
    this.#advance(coming[pick % coming.length] ?? 0);
  }

  async #wipe(): Promise<void> {
    const keys = await this.#world.redis<string[]>("KEYS", `${this.#world.prefix}:{fleet:*`);
    if (keys.length > 0) await this.#world.redis("DEL", ...keys);
    this.#model.wipe();
    this.#advance(KEPT_MS);
  }

  /** The rules as this isolate has them, remembered for 5 s from when it last asked. */
  #rulesOf(side: Side): Rules {
    if (this.#model.now >= side.rulesUntil) {
      side.rules = this.#model.rules;
      side.rulesUntil = this.#model.now + KEPT_MS;
    }
    return side.rules;
  }

  #neverRan(through: Through, { status }: Heard): boolean {
    if (this.#sides[through].loses) expect(status).toBe(503);
    return through === "refuses";
  }

  /** Everything that an operator can see equals the model. */
  async #compare(): Promise<void> {
    const { observer } = this.#sides;
    const rules = this.#rulesOf(observer);
    const [{ fleet: _, policy, ...status }, page] = await Promise.all([
      observer.fleet.status(),
      observer.fleet.pods("?limit=1000"),
    ]);
    expect(this.#troubles(), "no isolate had trouble with its store").toEqual([]);
    for (const pod of page.pods) this.#learn(pod);
    expect(policy).toMatchObject({ ttl_ms: rules.ttl_ms, paused: rules.paused });
    expect(status).toEqual(this.#model.status(rules));
    const rows = page.pods.map(({ cluster, pod, state, slots, leases }: Listed) => [
      `${cluster}/${pod}`,
      {
        state,
        slots,
        leases: Object.fromEntries(leases.map(({ id, expires_in_ms }) => [id, expires_in_ms])),
      },
    ]);
    expect(Object.fromEntries(rows)).toEqual(this.#model.listing());
    const listed = page.pods.reduce((sum: number, { leases }: Listed) => sum + leases.length, 0);
    expect(listed).toBe(status.busy);
  }

  /** Finds the leases whose answers were lost among those listed. */
  #learn({ leases }: Listed): void {
    for (const { id } of leases) {
      if (this.#model.leases.has(id)) continue;
      const [, cluster, pod, instance, name, ttl] = id.split("/");
      const lost = this.#model.held.find(
        (one) =>
          one.id.startsWith("?") &&
          [one.cluster, one.pod, one.instance, one.class, String(one.ttl_ms)].join("/") ===
            [cluster, pod, instance, name, ttl].join("/"),
      );
      if (lost) this.#model.learn(lost, id);
    }
  }
}

interface Listed {
  cluster: string;
  pod: string;
  state: string;
  slots: number;
  leases: { id: string; expires_in_ms: number }[];
}

/** Three names in two clusters. */
const whoOf = (pod: number, instance: string): Who => ({
  cluster: pod < 3 ? "a" : "b",
  pod: `p${pod % 3}`,
  instance,
});

const fieldsOf = ({ cluster, pod, instance }: Who) => ({ cluster, pod, ...(instance && { instance }) });
