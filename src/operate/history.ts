import type { Queues } from "../queues/queues.ts";
import type { Ground } from "../redis/ground.ts";
import { placesOfSpan, type Span } from "./rings.ts";
import type { FleetHistory, QueueHistory } from "./schema.ts";
import * as scripts from "./scripts.ts";

export interface HistoryOptions extends Ground {
  queues: Queues;
}

export function makeHistory({ store, keys, clock, queues }: HistoryOptions) {
  /** The samples of a span, oldest first, each as its numbers; and the last one before the span. */
  async function recall(history: string, span: Span) {
    const { step_ms, places, from, since } = placesOfSpan(span, await clock.now());
    const texts = await store.run(scripts.recall, { keys: { history }, args: {}, rest: places });
    const rows = texts
      .map((text) => text.split(" ").map(Number))
      .filter(([at = 0]) => at >= since)
      .sort(([one = 0], [other = 0]) => one - other);
    const first = rows.findIndex(([at = 0]) => at >= from);
    return { step_ms, rows: first < 0 ? [] : rows.slice(first), before: rows[first - 1] };
  }

  return {
    /** What a fleet was; grants, denials and lapsed are those since the sample before. */
    async fleet(fleet: string, span: Span): Promise<FleetHistory> {
      const { step_ms, rows, before } = await recall(keys.fleet(fleet).history, span);
      const samples = rows.map((row, place) => {
        const [at = 0, live = 0, busy = 0, capacity = 0, ...totals] = row;
        const [grants = 0, denials = 0, lapsed = 0] = since(totals, (rows[place - 1] ?? before)?.slice(4));
        return { at, live, busy, capacity, grants, denials, lapsed };
      });
      return { span, step_ms, samples };
    },

    /** What a queue was. Throws `not-found`. */
    async queue(queue: string, span: Span): Promise<QueueHistory> {
      const { history } = keys.queue(await queues.fleetOf(queue), queue);
      const { step_ms, rows } = await recall(history, span);
      const samples = rows.map((row) => {
        const [at = 0, ready = 0, delayed = 0, in_flight = 0, dead = 0, oldest_ready_ms = 0] = row;
        return { at, ready, delayed, in_flight, dead, oldest_ready_ms };
      });
      return { span, step_ms, samples };
    },
  };
}

/** How much totals grew; a total that fell began anew. Without a sample before, nothing is known of when. */
function since(totals: readonly number[], before: readonly number[] | undefined): number[] {
  return totals.map((total, at) => {
    const former = before?.[at] ?? total;
    return total < former ? total : total - former;
  });
}
