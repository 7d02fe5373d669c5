import { sleep } from "../../../src/client/timers.ts";
import { problem } from "./fake-coordinator.ts";
import type { FakeLeases } from "./fake-leases.ts";
import type { Reply, Seen } from "./faulty-server.ts";

/** A task of a fake queue. `text` is the payload's JSON, sent as it stands. */
export interface FakeTask {
  id: string;
  text: string;
  delivery: number;
  lease?: string;
  /** When it was handed out, by `performance.now()`. */
  claimedAt?: number;
}

/** One queue in memory: what waits, what ended and how. */
export interface FakeQueue {
  ready: FakeTask[];
  claimed: FakeTask[];
  completed: { id: string; result: unknown }[];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies
  failed: { id: string; body: any }[];
  add(id: string, payload?: unknown): void;
  /** The pod's tasks become ready again. */
  takeBack(ended: string[]): void;
  calls: Record<string, (seen: Seen) => Reply | Promise<Reply>>;
}

/** Makes an empty queue whose tasks take the given leases. */
export function createFakeQueue(
  leases: FakeLeases,
  behaviour: { leaseTtlMs: number; retryAfterMs: number; softMs?: number; limitMs?: number },
): FakeQueue {
  const limitMs = () => behaviour.limitMs ?? 3_600_000;
  const requests = new Map<string, FakeTask[]>();
  const ended = new Map<string, Reply>();
  const queue: FakeQueue = {
    ready: [],
    claimed: [],
    completed: [],
    failed: [],
    add: (id, payload = id) => {
      queue.ready.push({ id, text: JSON.stringify(payload), delivery: 0 });
    },
    takeBack: (ids) => {
      for (const task of queue.claimed.filter(({ lease }) => lease !== undefined && ids.includes(lease)))
        queue.ready.unshift({ ...task, delivery: task.delivery - 1 });
    },
    calls: {
      claim: async ({ body, gone }) => {
        const waitEnd = performance.now() + (body.wait_ms ?? 0);
        const before = requests.get(body.request_id);
        while (!before && queue.ready.length === 0 && !gone() && performance.now() < waitEnd) await sleep(5);
        if (gone()) return { fault: "hang" };
        const tasks = before ?? queue.ready.splice(0, body.max ?? 1).map((task) => handOut(task, body.pod));
        if (tasks.length === 0)
          return { body: { tasks: [], reason: "empty", retry_after_ms: behaviour.retryAfterMs } };
        requests.set(body.request_id, tasks);
        const live = tasks.filter(({ lease = "" }) => leases.live(lease));
        return live.length === 0
          ? problem(409, "request-ended")
          : { text: `{"tasks":[${live.map(wire).join()}]}` };
      },
      complete: ({ body }) =>
        end(body.lease, { body: { completed: true, already: false } }, ({ id }) =>
          queue.completed.push({ id, result: body.result }),
        ),
      fail: ({ body }) =>
        end(body.lease, { body: { state: "delayed", already: false } }, (task) => {
          queue.failed.push({ id: task.id, body });
          if (body.delay_ms === 0) queue.ready.unshift({ ...task });
        }),
    },
  };

  function handOut(task: FakeTask, pod: string): FakeTask {
    const delivery = task.delivery + 1;
    const lease = `${pod}/${task.id}/${delivery}/${crypto.randomUUID()}`;
    const out = { ...task, delivery, lease, claimedAt: performance.now() };
    leases.grant(out.lease, behaviour.leaseTtlMs, out.claimedAt + limitMs());
    queue.claimed.push(out);
    return out;
  }

  function end(lease: string, reply: Reply, run: (task: FakeTask) => void): Reply {
    const before = ended.get(lease);
    if (before !== undefined) return before;
    const task = queue.claimed.find((one) => one.lease === lease);
    if (task === undefined || !leases.end(lease)) return problem(409, "stale-lease");
    run(task);
    ended.set(lease, reply);
    return reply;
  }

  function wire({ id, text, delivery, lease }: FakeTask): string {
    const at = 1_790_000_000_000;
    const { leaseTtlMs, softMs } = behaviour;
    const lastsMs = Math.min(leaseTtlMs, limitMs());
    const rest = JSON.stringify({
      id,
      priority: 0,
      class: "normal",
      delivery,
      enqueued_at: at,
      lease: { id: lease, ttl_ms: lastsMs, expires_at: at + lastsMs },
      ...(softMs !== undefined && { soft_deadline_at: at + softMs }),
      deadline_at: at + limitMs(),
    });
    return `{"payload":${text},${rest.slice(1)}`;
  }
  return queue;
}
