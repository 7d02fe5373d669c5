import type { TaskCall } from "../../../src/queues/schema.ts";
import type { Stamped } from "./journal.ts";

/** A task as a producer of the demo makes it: under an id of its own. */
export type DemoTask = TaskCall & { id: string };

/** What a producer writes down: a promise before it asks, and what became of it. */
export type ProducerLine =
  | { event: "pending"; task: DemoTask }
  | { event: "accepted"; id: string; duplicate: boolean };

/** What a worker writes down of the deliveries it got. */
export type WorkerLine =
  | { event: "claimed"; id: string; lease: string; delivery: number }
  | { event: "completing" | "failing" | "lost"; id: string; lease: string }
  | { event: "completed"; id: string; lease: string; already: boolean }
  | { event: "failed"; id: string; lease: string; state: string }
  | { event: "rejected" | "unanswered"; id: string; lease: string; why: string };

/** One line of a producer or worker with its times. */
export type QueueEntry = Stamped<ProducerLine | WorkerLine>;

/** What the payload of a demo's task asks of its worker. */
export interface Payload {
  ms: number;
  /** Works, always throws, or takes its worker down with it. */
  kind: "work" | "poison" | "fatal";
}

/** The exit code of a worker that a task took down: whoever runs it starts it again. */
export const TASK_KILLED = 70;
