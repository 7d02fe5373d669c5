/** The rules of one fleet as a person would say them: no bands, no scores, no memory that purges. */

export type State = "ready" | "starting" | "draining";

export interface Who {
  cluster: string;
  pod: string;
  instance: string;
}

export interface Rules {
  ttl_ms: number;
  lease_ttl_ms: number;
  paused: boolean;
  ratios: Record<string, number>;
}

interface Pod {
  instance: string;
  state: State;
  slots: number;
  expires_at: number;
}

export interface ModelLease extends Who {
  id: string;
  class: string;
  ttl_ms: number;
  expires_at: number;
}

export interface AcquireCall extends Who {
  class: string;
  request: string | undefined;
  ttl_ms: number | undefined;
}

/** What an acquire must come to, when it is asked of the store. */
export type Verdict =
  | { is: "granted"; lease: ModelLease | undefined }
  | { is: "ended" }
  | { is: "ended or new" }
  | { is: "paused" | "at_capacity" };

export const DEFAULT_RULES: Rules = {
  ttl_ms: 30_000,
  lease_ttl_ms: 30_000,
  paused: false,
  ratios: { normal: 0.8, high: 1 },
};

const HOUR_MS = 3_600_000;
const ENDED_MS = 600_000;

export class Model {
  now: number;
  rules = DEFAULT_RULES;
  readonly pods = new Map<string, Pod>();
  readonly leases = new Map<string, ModelLease>();
  readonly #requests = new Map<string, ModelLease>();

  constructor(now: number) {
    this.now = now;
  }

  /** Slots of the pods in this state. */
  count(state: State, cluster?: string): number {
    const pods = [...this.pods].filter(([name]) => cluster === undefined || name.startsWith(`${cluster}/`));
    return pods.reduce((sum, [, pod]) => sum + (pod.state === state && this.#lives(pod) ? pod.slots : 0), 0);
  }

  get held(): ModelLease[] {
    return [...this.leases.values()].filter((lease) => this.#lives(lease));
  }

  capacity(ratio = this.rules.ratios.normal ?? 1): number {
    return Math.max(1, Math.floor((Math.round(ratio * 10_000) * this.count("ready")) / 10_000));
  }

  #lives({ expires_at }: { expires_at: number }): boolean {
    return expires_at > this.now;
  }

  /** One beat under `rules`; a stale one changes nothing. `joined` is undefined where a lapsed pod merely came back. */
  beat(who: Who, state: State, slots: number, leases: string[], rules: Rules) {
    const known = this.pods.get(nameOf(who));
    const isOlder = known !== undefined && compare(who.instance, known.instance) < 0;
    if (isOlder && known.expires_at + HOUR_MS > this.now)
      return { stale: true, joined: false, lost: [...leases] };
    const isSame = known !== undefined && known.instance === who.instance && known.state === state;
    const joined = isSame ? (this.#lives(known) ? false : undefined) : true;
    const expires_at = this.now + rules.ttl_ms;
    this.pods.set(nameOf(who), { instance: who.instance, state, slots, expires_at });
    const lost = leases.filter((id) => !this.#renew(who, id));
    return { stale: false, joined, lost };
  }

  #renew(who: Who, id: string): boolean {
    const lease = this.leases.get(id);
    if (!lease || !sameHolder(lease, who) || !this.#lives(lease)) return false;
    lease.expires_at = Math.max(lease.expires_at, this.now + lease.ttl_ms);
    return true;
  }

  /** What an acquire asked of the store under `rules` must come to; changes nothing. */
  judge(call: AcquireCall, rules: Rules): Verdict {
    const before = call.request === undefined ? undefined : this.#requests.get(requestKey(call));
    if (before && this.#lives(before)) return { is: "granted", lease: before };
    if (before && before.expires_at + ENDED_MS > this.now) return { is: "ended" };
    if (before) return { is: "ended or new" };
    if (rules.paused) return { is: "paused" };
    const isFree = this.held.length < this.capacity(rules.ratios[call.class]);
    return isFree ? { is: "granted", lease: undefined } : { is: "at_capacity" };
  }

  /** A new lease of this call, under the id that the answer gave. */
  grant(call: AcquireCall, id: string, rules: Rules): ModelLease {
    const { cluster, pod, instance } = call;
    const ttl_ms = call.ttl_ms ?? rules.lease_ttl_ms;
    const lease = { id, cluster, pod, instance, class: call.class, ttl_ms, expires_at: this.now + ttl_ms };
    this.leases.set(id, lease);
    if (call.request !== undefined) this.#requests.set(requestKey(call), lease);
    return lease;
  }

  /** The id of a lease whose answer was lost, once it is seen. */
  learn(unknown: ModelLease, id: string): void {
    this.leases.delete(unknown.id);
    unknown.id = id;
    this.leases.set(id, unknown);
  }

  release(ids: readonly string[]): string[] {
    const live = [...new Set(ids)].filter((id) => this.held.some((lease) => lease.id === id));
    for (const id of live) (this.leases.get(id) as ModelLease).expires_at = this.now;
    return live;
  }

  leave(who: Who): { left: boolean; released: string[] } {
    const released = this.release(this.held.filter((lease) => sameHolder(lease, who)).map(({ id }) => id));
    const pod = this.pods.get(nameOf(who));
    const left = pod !== undefined && pod.instance === who.instance && this.#lives(pod);
    if (left) pod.expires_at = this.now;
    return { left, released };
  }

  /** The store forgets the fleet. */
  wipe(): void {
    this.rules = DEFAULT_RULES;
    this.pods.clear();
    this.leases.clear();
    this.#requests.clear();
  }

  /** What `GET /v1/fleets/{fleet}` must answer under `rules`, but for the policy itself. */
  status(rules: Rules) {
    const [live, busy] = [this.count("ready"), this.held.length];
    const capacity = this.capacity(rules.ratios.normal);
    const classes = Object.entries(rules.ratios).map(([name, ratio]) => {
      const share = this.capacity(ratio);
      return [name, { ratio, capacity: share, available: Math.max(0, share - busy) }];
    });
    return {
      live,
      busy,
      capacity,
      available: Math.max(0, capacity - busy),
      headroom: Math.max(0, live - busy),
      over_by: Math.max(0, busy - live),
      starting: this.count("starting"),
      draining: this.count("draining"),
      classes: Object.fromEntries(classes),
      clusters: Object.fromEntries(this.#clusters()),
    };
  }

  #clusters() {
    const names = new Set(
      [...this.pods.keys(), ...this.held.map(nameOf)].map((name) => name.split("/", 1)[0] ?? ""),
    );
    return [...names].flatMap((cluster) => {
      const live = this.count("ready", cluster);
      const busy = this.held.filter((lease) => lease.cluster === cluster).length;
      return live + busy > 0 ? [[cluster, { live, busy }] as const] : [];
    });
  }

  /** What `GET …/pods` must list: by cluster/pod the state, the slots and the leases with what they have left. */
  listing() {
    const rows = new Map<string, { state: string; slots: number; leases: Record<string, number> }>();
    for (const [name, pod] of this.pods) {
      if (this.#lives(pod)) rows.set(name, { state: pod.state, slots: pod.slots, leases: {} });
    }
    for (const lease of this.held) {
      const row = rows.get(nameOf(lease)) ?? { state: "silent", slots: 0, leases: {} };
      row.leases[lease.id] = lease.expires_at - this.now;
      rows.set(nameOf(lease), row);
    }
    return Object.fromEntries(rows);
  }
}

export const nameOf = ({ cluster, pod }: Who) => `${cluster}/${pod}`;

const requestKey = (call: AcquireCall) =>
  [call.cluster, call.pod, call.instance, call.class, call.request].join(" ");

const sameHolder = (one: Who, other: Who) => nameOf(one) === nameOf(other) && one.instance === other.instance;

/** Order of bytes; all names here are ASCII. */
const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
