import { sleep } from "../../../src/client/timers.ts";
import { createFakeLeases } from "./fake-leases.ts";
import { createFakeQueue, type FakeQueue } from "./fake-queue.ts";
import { type FaultyServer, type Reply, type Seen, startFaultyServer } from "./faulty-server.ts";

/** How a fake coordinator behaves; change it while it runs. Durations in milliseconds. */
export interface Behaviour {
  capacity: number;
  paceMs: number;
  leaseTtlMs: number;
  retryAfterMs: number;
  /** The queue's soft and hard time limits. */
  softMs?: number;
  limitMs?: number;
  directive: "run" | "drain";
  /** Answers instead of the coordinator, which does nothing. */
  instead: (seen: Seen) => Reply | undefined | Promise<Reply | undefined>;
  /** Answers in its place after it has done what was asked: a lost answer. */
  afterwards: (seen: Seen) => Reply | undefined | Promise<Reply | undefined>;
}

/** A coordinator of one fleet and one queue in memory: enough of the protocol for a keeper, with faults on demand. */
export interface FakeCoordinator extends FaultyServer {
  behaviour: Behaviour;
  /** Requests of one call, in order. */
  calls(name: string): Seen[];
  busy(): number;
  queue: FakeQueue;
  /** Ends a lease as if its deadline had passed. */
  expire(id: string): void;
}

/** Starts a fake coordinator on the loopback. */
export async function startFakeCoordinator(over: Partial<Behaviour> = {}): Promise<FakeCoordinator> {
  const behaviour: Behaviour = {
    capacity: 2,
    paceMs: 200,
    leaseTtlMs: 1_000,
    retryAfterMs: 20,
    directive: "run",
    instead: () => undefined,
    afterwards: () => undefined,
    ...over,
  };
  const leases = createFakeLeases();
  const queue = createFakeQueue(leases, behaviour);
  const busy = () => leases.all().filter(leases.live).length;

  const done: Record<string, (seen: Seen) => Reply | Promise<Reply>> = {
    heartbeat: ({ body }) => {
      const lost = (body.leases ?? []).filter((id: string) => !leases.live(id));
      for (const id of body.leases ?? []) leases.renew(id);
      return {
        body: { ttl_ms: 3_000, next_heartbeat_ms: behaviour.paceMs, directive: behaviour.directive, lost },
      };
    },
    acquire: async ({ body, gone }) => {
      const id = `${body.pod}/${body.request_id}`;
      const ttlMs = body.ttl_ms ?? behaviour.leaseTtlMs;
      if (leases.has(id) && !leases.live(id)) return problem(409, "request-ended");
      const waitEnd = performance.now() + (body.wait_ms ?? 0);
      while (!leases.live(id) && !gone() && busy() >= behaviour.capacity && performance.now() < waitEnd)
        await sleep(5);
      if (gone()) return { fault: "hang" };
      if (!leases.live(id) && busy() >= behaviour.capacity)
        return { body: { granted: false, reason: "at_capacity", retry_after_ms: behaviour.retryAfterMs } };
      if (!leases.live(id)) leases.grant(id, ttlMs);
      const lease = { id, class: body.class ?? "normal", ttl_ms: ttlMs, expires_at: 0 };
      return { body: { granted: true, lease, live: 1, busy: busy(), capacity: behaviour.capacity } };
    },
    release: ({ body }) => {
      const released = body.leases.filter(leases.end);
      const missing = body.leases.filter((id: string) => !released.includes(id));
      return { body: { released, missing } };
    },
    leave: ({ body }) => {
      const held = leases.all().filter((id) => id.startsWith(`${body.pod}/`));
      const released = held.filter(leases.end);
      queue.takeBack(released);
      return { body: { left: true, released } };
    },
    ...queue.calls,
  };

  const nameOf = (seen: Seen) => seen.path.split("/").at(-1) ?? "";
  const server = await startFaultyServer(async (seen) => {
    const faulty = await behaviour.instead(seen);
    if (faulty !== undefined) return faulty;
    const reply = await (done[nameOf(seen)]?.(seen) ?? problem(404, "not-found"));
    return (await behaviour.afterwards(seen)) ?? reply;
  });
  return {
    ...server,
    behaviour,
    calls: (name) => server.seen.filter((seen) => nameOf(seen) === name),
    busy,
    expire: leases.end,
    queue,
  };
}

/** A problem answer. */
export function problem(status: number, code: string): Reply {
  return {
    status,
    body: { type: "about:blank", title: code, status, detail: `It is ${code}.`, code, trace_id: "t" },
  };
}
