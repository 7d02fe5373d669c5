import { has, type Send, segment } from "../../../src/client/call.ts";
import { newRequestId } from "../../../src/client/ids.ts";
import { type ClientOptions, toSettings } from "../../../src/client/options.ts";
import { createTransport } from "../../../src/client/transport.ts";
import type {
  ClaimAnswer,
  ClaimCall,
  CompleteAnswer,
  EnqueueAnswer,
  FailAnswer,
  FailCall,
  QueueAnswer,
  QueueCall,
  QueueConfig,
  TaskAnswer,
  TaskCall,
} from "../../../src/queues/schema.ts";

/** The calls of one queue that the demo makes, repeated until they are answered or their deadline ends. */
export type QueueCalls = ReturnType<typeof queueCalls>;

/** Binds the wire's calls of one queue, over the client's own transport. */
export function queueCalls(options: ClientOptions, queue: string) {
  const send: Send = createTransport(toSettings(options));
  const base = `/v1/queues/${segment(queue)}`;
  const accepts = (answer: object) => has(answer, {});
  const post = <Answer>(path: string, body: object, waitMs?: number) =>
    send<Answer>({ method: "POST", path: base + path, body, waitMs, accepts });
  return {
    configure: (body: QueueCall) => send<QueueConfig>({ method: "PUT", path: base, body, accepts }),
    status: () => send<QueueAnswer>({ method: "GET", path: base, accepts }),
    /** A task needs an id of its own, or a repeat after a lost answer would make it twice. */
    enqueue: (body: TaskCall & { id: string }) => post<EnqueueAnswer>("/tasks", body),
    claim: (body: ClaimCall) =>
      post<ClaimAnswer>("/claim", { request_id: newRequestId(), ...body }, body.wait_ms),
    complete: (lease: string) => post<CompleteAnswer>("/complete", { lease }),
    fail: (body: FailCall) => post<FailAnswer>("/fail", body),
    task: (id: string) => send<TaskAnswer>({ method: "GET", path: `${base}/tasks/${segment(id)}`, accepts }),
  };
}
