import type * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { memberTexts } from "../raw-json.ts";
import type { QueuesOptions } from "./options.ts";
import {
  type CompleteAnswer,
  type completeBody,
  type FailAnswer,
  type failBody,
  MAX_ERROR_BYTES,
  MAX_RESULT_BYTES,
  type QueueConfig,
} from "./schema.ts";
import * as scripts from "./scripts.ts";
import { type Delivery, deadText, orderOf, parseDelivery, type Task, taskText } from "./task.ts";

/** What becomes of a task whose delivery failed. */
interface Fate {
  state: FailAnswer["state"];
  value: number;
  member: string;
  due: number;
}

const HOUR_MS = 3_600_000;
/** So many are handed back in a step: Lua's unpack dies at 8,000 values, and what was written before stays written. */
const STEP = 1_000;

export function makeFinish({ store, keys, clock, configs, denials, ledger }: QueuesOptions) {
  return {
    /** Ends a delivery with its result. Throws `stale-lease`, and `too-large` for a result over 64 KiB. */
    async complete(
      queue: string,
      body: z.output<typeof completeBody>,
      text: string,
    ): Promise<CompleteAnswer> {
      const { fleet, result_ttl_ms } = await configs.of(queue);
      const { lease } = body;
      const { task } = deliveryOf(queue, lease);
      const result = memberTexts(text).get("result") ?? "";
      if (new TextEncoder().encode(result).length > MAX_RESULT_BYTES) throw resultTooLarge();
      const now = await clock.now();
      const at = keys.queue(fleet, queue);
      const outcome = await store.run(scripts.complete, {
        keys: { ...at, record: at.record(task.id), failure: at.failure(task.id) },
        args: {
          now,
          lease,
          id: task.id,
          failed: task.failed ? 1 : 0,
          value: `c ${now} ${lease}\n${result}`,
          result_ttl_ms,
        },
      });
      if (outcome === "stale") throw stale();
      denials.forget(fleet);
      if (outcome === "completed") ledger.ended(fleet, [lease]);
      return { completed: true, already: outcome === "already" };
    },

    /** Ends a delivery without a result. Throws `stale-lease`. */
    async fail(queue: string, body: z.output<typeof failBody>): Promise<FailAnswer> {
      const config = await configs.of(queue);
      const { lease } = body;
      const { task } = deliveryOf(queue, lease);
      const now = await clock.now();
      const { state, value, member, due } = fateOf(task, body, config, now);
      const at = keys.queue(config.fleet, queue);
      const [outcome, became] = await store.run(scripts.fail, {
        keys: { ...at, failure: at.failure(task.id) },
        args: {
          now,
          lease,
          id: task.id,
          state,
          value,
          member,
          note: `${lease} ${due} ${state}\n${cut(body.error ?? "")}`,
        },
      });
      if (outcome === "stale") throw stale();
      denials.forget(config.fleet);
      if (outcome === "failed") ledger.ended(config.fleet, [lease]);
      return { state: became as FailAnswer["state"], already: outcome === "already" };
    },

    /** Returns deliveries of a pod that leaves, by lease; gives those that were live. */
    async handBack(fleet: string, leases: readonly string[]): Promise<string[]> {
      const byQueue = Map.groupBy(leases, (lease) => parseDelivery(lease)?.queue ?? "");
      const now = await clock.now();
      const ended: string[] = [];
      for (const [queue, held] of byQueue) {
        if (queue === "") continue;
        for (let from = 0; from < held.length; from += STEP) {
          const rest = held.slice(from, from + STEP);
          const call = { keys: keys.queue(fleet, queue), args: { now }, rest };
          ended.push(...(await store.run(scripts.handBack, call)));
        }
      }
      denials.forget(fleet);
      ledger.ended(fleet, ended);
      return ended;
    },
  };
}

function deliveryOf(queue: string, lease: string): Delivery {
  const delivery = parseDelivery(lease);
  if (!delivery || delivery.queue !== queue) throw stale();
  return delivery;
}

/** A retry waits 1 s · 2^(delivery − 1) × 1…1.25, an hour at most (PROTOCOL, fail). */
function retryDelayMs(delivery: number): number {
  return Math.min(HOUR_MS, Math.round(1_000 * 2 ** Math.min(delivery - 1, 20) * (1 + Math.random() / 4)));
}

function fateOf(task: Task, body: z.output<typeof failBody>, config: QueueConfig, now: number): Fate {
  const deferred = body.reason === "no_capacity";
  const spent = task.deliveries >= (task.max_deliveries ?? config.max_deliveries);
  if (!body.retry || (spent && !deferred)) {
    const reason = body.reason ?? (body.retry ? "max_deliveries" : "failed");
    return { state: "dead", value: 0, member: deadText({ ...task, failed: true }, now, reason), due: 0 };
  }
  const next: Task = {
    ...task,
    failed: true,
    deliveries: task.deliveries - (deferred ? 1 : 0),
    deferred: task.deferred + (deferred ? 1 : 0),
  };
  const delay = body.delay_ms ?? retryDelayMs(task.deliveries);
  if (delay === 0) return { state: "ready", value: orderOf(next), member: taskText(next), due: 0 };
  return { state: "delayed", value: now + delay, member: `d/${taskText(next)}`, due: now + delay };
}

/** At most 4 KiB of a text, never half a character. */
function cut(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_ERROR_BYTES));
  return text.slice(0, read);
}

const stale = () =>
  new Problem("stale-lease", "this lease is not the task's current delivery; nothing was changed");

const resultTooLarge = () =>
  new Problem("too-large", `the result is larger than ${MAX_RESULT_BYTES} bytes`, {
    errors: [{ path: "result", message: `must be at most ${MAX_RESULT_BYTES} bytes` }],
  });
