import * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { retryAfterMs } from "../leases/backoff.ts";
import { tenThousandths } from "../leases/capacity.ts";
import { claimGate, type Inquiry } from "../leases/denials.ts";
import type { Policy } from "../leases/policy.ts";
import { makePoll } from "../leases/poll.ts";
import type { QueuesOptions } from "./options.ts";
import type { ClaimAnswer, ClaimedTask, claimBody, QueueConfig } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { type Delivery, deadText, parseDelivery, taskText } from "./task.ts";

type Body = z.output<typeof claimBody>;
type Handed = { task: Omit<ClaimedTask, "payload">; payload: string };

/** A claim as it goes out: `json` holds the payloads as they came in. */
export interface Claimed {
  answer: ClaimAnswer;
  json: string;
}

/** How long a repeat of a claim is recognised (as long as that of an acquire). */
const REQUEST_MEMORY_MS = 600_000;

/**
 * Takes up to `max` tasks with a slot for each, waiting up to `wait_ms` for the first.
 * Throws `request-ended` when this request's deliveries are all over.
 */
export function makeClaim({ store, keys, clock, configurations, configs, denials, rates }: QueuesOptions) {
  const poll = makePoll(clock);
  return async function claim(queue: string, body: Body, signal: AbortSignal): Promise<Claimed> {
    const { cluster, pod, instance = "", request_id: request } = body;
    const inquiry: Inquiry = {
      request: request && [claimGate(queue), cluster, pod, instance, request].join("/"),
    };
    const [outcome, , ...rest] = await poll(
      { wait_ms: body.wait_ms, signal, name: inquiry.request },
      () => ask(queue, body, inquiry),
      ([outcome]) => outcome === "claimed" || outcome === "ended",
    );
    if (outcome === "ended") {
      throw new Problem("request-ended", "the deliveries of this request_id are over; use a new one");
    }
    const handed = outcome === "claimed" ? await hand(queue, rest) : [];
    if (outcome !== "claimed" || handed.length === 0) {
      const limited = outcome === "limited";
      const answer = {
        tasks: [],
        reason: limited ? ("rate_limited" as const) : outcome === "claimed" ? ("empty" as const) : outcome,
        retry_after_ms: limited ? Number(rest[0]) : retryAfterMs(body.attempt),
      };
      return { answer, json: JSON.stringify(answer) };
    }
    const tasks = handed.map(({ task, payload }) => `{"payload":${payload},${JSON.stringify(task).slice(1)}`);
    return {
      answer: { tasks: handed.map(({ task }) => ({ ...task, payload: undefined })) },
      json: `{"tasks":[${tasks}]}`,
    };
  };

  async function ask(queue: string, body: Body, inquiry: Inquiry) {
    const config = await configs.of(queue);
    const { policy, mixed } = await configurations.of(config.fleet);
    const { cluster, pod, instance = "", request_id: request } = body;
    const open = !config.paused && !policy.paused;
    const gate = claimGate(queue);
    if (!open && request === undefined) return ["paused", 0] as const;
    const remembered = denials.recall(config.fleet, gate, inquiry);
    if (remembered && open) return ["at_capacity", 0] as const;

    const epoch = denials.epoch(config.fleet, gate);
    const at = keys.queue(config.fleet, queue);
    const { restKeys, limit, spent } = await rates.gate(config.limit, queue);
    const question = {
      restKeys,
      keys: { ...at, request: at.request([cluster, pod, instance, request ?? ""].join("/")) },
      args: {
        now: await clock.now(),
        open: open ? 1 : 0,
        asked: request === undefined ? 0 : 1,
        max: body.max,
        holder: ["t", cluster, pod, instance].join("/"),
        queue,
        lease_ttl_ms: config.lease_ttl_ms,
        time_limit_ms: config.time_limit_ms,
        max_deliveries: config.max_deliveries,
        mixed: mixed ? 1 : 0,
        request_memory_ms: REQUEST_MEMORY_MS,
        limit,
      },
      rest: ratios(policy),
    };
    const reply = await denials.asking(
      config.fleet,
      inquiry,
      () => store.run(scripts.claim, question),
      ([outcome]) => outcome !== "claimed" && outcome !== "ended",
    );
    const [outcome, after, ...leases] = reply;
    spent(outcome === "claimed" ? leases.length / 2 : 0);
    if (after === 1) denials.remember(config.fleet, gate, {}, epoch);
    return reply;
  }

  /** Reads the payloads of deliveries; one that has none is no delivery. */
  async function hand(queue: string, leases: readonly (string | number)[]): Promise<Handed[]> {
    const config = await configs.of(queue);
    const at = keys.queue(config.fleet, queue);
    const deliveries = leases.flatMap((lease, place) => {
      const delivery = typeof lease === "string" ? parseDelivery(lease) : undefined;
      return delivery ? [{ id: String(lease), expires_at: Number(leases[place + 1]), delivery }] : [];
    });
    const records = { texts: deliveries.map(({ delivery }) => at.record(delivery.task.id)) };
    const texts = await store.read(records, z.array(z.nullable(z.string())));
    const handed: Handed[] = [];
    for (const [place, { id, expires_at, delivery }] of deliveries.entries()) {
      const { task, ttl_ms, claimed_at, deadline_at } = delivery;
      const record = texts[place];
      if (!record?.startsWith("w ")) {
        await bury(config, queue, id, delivery);
        continue;
      }
      handed.push({
        payload: record.slice(record.indexOf("\n") + 1),
        task: {
          id: task.id,
          priority: task.priority,
          class: task.class,
          delivery: task.deliveries,
          enqueued_at: task.enqueued_at,
          // A time limit that is shorter ends the lease sooner.
          lease: { id, ttl_ms: Math.min(ttl_ms, deadline_at - claimed_at), expires_at },
          ...softDeadline(config, delivery),
          deadline_at,
        },
      });
    }
    return handed;
  }

  async function bury(config: QueueConfig, queue: string, lease: string, { task }: Delivery): Promise<void> {
    const now = await clock.now();
    const at = keys.queue(config.fleet, queue);
    const member = deadText(task, now, "record-lost");
    await store.run(scripts.bury, {
      keys: { ...at, record: at.record(task.id) },
      args: { now, lease, id: task.id, member, value: `l ${taskText(task)}\n` },
    });
    denials.forget(config.fleet);
  }
}

function softDeadline(
  config: QueueConfig,
  { claimed_at, deadline_at }: { claimed_at: number; deadline_at: number },
) {
  if (config.soft_time_limit_ms === undefined) return {};
  return { soft_deadline_at: Math.min(claimed_at + config.soft_time_limit_ms, deadline_at) };
}

/** Classes with their shares, flat; `normal` first, whose share a class that the policy has lost falls back to. */
function ratios({ classes }: Policy): (string | number)[] {
  const { normal, ...others } = classes;
  const list = [
    ["normal", normal?.ratio ?? 1] as const,
    ...Object.entries(others).map(([name, { ratio }]) => [name, ratio] as const),
  ];
  return list.flatMap(([name, ratio]) => [name, tenThousandths(ratio)]);
}
