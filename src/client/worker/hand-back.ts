import type { QueueCalls } from "../queue-calls.ts";

/** Gives a task back as if it had never been claimed: ready at once, no delivery counted. Never rejects. */
export async function handBack(calls: QueueCalls, lease: string, deadlineMs: number): Promise<void> {
  try {
    await calls.fail({ lease, reason: "no_capacity", delay_ms: 0 }, { deadlineMs });
  } catch {
    // It lapses by its ttl.
  }
}
