import type { BenchFleet } from "./gate-fleet.ts";
import type { HttpCaller } from "./http.ts";
import type { Rooms } from "./rooms.ts";

/** One way to the same scripts: straight, through the REST front, or through the whole Worker. */
export interface GatePath {
  name: string;
  heartbeat(turn: number): Promise<unknown>;
  acquireAndRelease(turn: number): Promise<unknown>;
  denied(turn: number): Promise<unknown>;
  /** A refusal that the isolate's memory may answer, since no request_id asks for the store. */
  deniedFromMemory(turn: number): Promise<unknown>;
}

// Unlike any other run's, so that no request is a repeat.
const RUN = Date.now().toString(36);
let requests = 0;
const newRequest = () => `${RUN}-${++requests}`;

/** For an isolate whose clock lies behind the releases of the way before, as on a machine in use: it waits them out. */
const WAIT_MS = 1_000;

/** The rooms without HTTP, over a store. */
export function roomsPath(name: string, { fleets }: Rooms, fleet: BenchFleet): GatePath {
  const never = new AbortController().signal;
  const ask = (turn: number, className: string, request_id?: string, wait_ms = 0) => {
    const body = { ...fleet.pod(turn), class: className, request_id, wait_ms, attempt: 0 };
    return fleets.acquire(fleet.name, body, never);
  };
  return {
    name,
    heartbeat: (turn) => fleets.heartbeat(fleet.name, fleet.pod(turn)),
    async acquireAndRelease(turn) {
      const answer = await ask(turn, "high", newRequest(), WAIT_MS);
      if (!answer.granted) throw new Error("the bench's own fleet is full");
      await fleets.release(fleet.name, [answer.lease.id]);
    },
    denied: (turn) => ask(turn, "full", newRequest()),
    deniedFromMemory: (turn) => ask(turn, "full"),
  };
}

/** HTTP to the Worker in workerd. */
export function workerPath({ call }: HttpCaller, fleet: BenchFleet): GatePath {
  const base = `/v1/fleets/${fleet.name}`;
  const ask = (turn: number, className: string, more: object = {}) =>
    call<{ granted: boolean; lease: { id: string } }>("POST", `${base}/acquire`, {
      ...fleet.pod(turn),
      class: className,
      ...more,
    });
  return {
    name: "Worker",
    heartbeat: (turn) => call("POST", `${base}/heartbeat`, fleet.pod(turn)),
    async acquireAndRelease(turn) {
      const { granted, lease } = await ask(turn, "high", { request_id: newRequest(), wait_ms: WAIT_MS });
      if (!granted) throw new Error("the bench's own fleet is full");
      await call("POST", `${base}/release`, { leases: [lease.id] });
    },
    denied: (turn) => ask(turn, "full", { request_id: newRequest() }),
    deniedFromMemory: (turn) => ask(turn, "full"),
  };
}
