import type * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { retryAfterMs } from "../leases/backoff.ts";
import { claimGate } from "../leases/denials.ts";
import type { Policy } from "../leases/policy.ts";
import type { ProblemCode } from "../problems.ts";
import { elementTexts, memberTexts } from "../raw-json.ts";
import { StoreFault } from "../redis/errors.ts";
import type { QueuesOptions } from "./options.ts";
import { type BatchAnswer, type EnqueueAnswer, MAX_PAYLOAD_BYTES, type taskBody } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { newTaskId, rankOf, type Task, taskText } from "./task.ts";

type Body = z.output<typeof taskBody>;
type Place = "ready" | "delayed" | "known";
type Outcome = { id: string; status: EnqueueAnswer } | { id: string; code: ProblemCode };

export function makeEnqueue({ store, keys, clock, configurations, configs, denials }: QueuesOptions) {
  async function take(
    queue: string,
    bodies: readonly Body[],
    payloads: readonly string[],
  ): Promise<Outcome[]> {
    const config = await configs.of(queue);
    const { policy } = await configurations.of(config.fleet);
    const now = await clock.now();
    const at = keys.queue(config.fleet, queue);
    const outcomes: Outcome[] = [];
    const taken: { index: number; task: Task; payload: string; place: Place }[] = [];
    for (const [index, body] of bodies.entries()) {
      const payload = payloads[index] ?? "null";
      const id = body.id ?? newTaskId(now);
      if (isTooLarge(payload)) outcomes[index] = { id, code: "too-large" };
      else {
        const task = await taskOf(body, id, index, payload, policy, now);
        taken.push({ index, task, payload, place: placeOf(body, policy) });
      }
    }
    if (taken.length > 0) {
      const replies = await store.run(scripts.enqueue, {
        keys: at,
        restKeys: taken.flatMap(({ task }) => [at.record(task.id), at.failure(task.id)]),
        args: { now, max_backlog: config.max_backlog ?? "", max_deliveries: config.max_deliveries },
        rest: taken.flatMap(({ task, payload, place }) => [taskText(task), payload, place]),
      });
      if (replies.length !== taken.length) throw new StoreFault("enqueue gave replies for other tasks");
      if (replies.some(([, state]) => state === "ready")) denials.forget(config.fleet, claimGate(queue));
      for (const [turn, { index, task }] of taken.entries())
        outcomes[index] = outcomeOf(task.id, replies[turn]);
    }
    return outcomes;
  }

  return {
    /** One task, taken in once by its id. Throws `unknown-class`, `too-large`, `id-conflict`, `queue-full`. */
    async enqueue(queue: string, body: Body, text: string): Promise<EnqueueAnswer> {
      const [outcome] = await take(queue, [body], [memberTexts(text).get("payload") ?? "null"]);
      if (!outcome) throw new StoreFault("enqueue gave no reply");
      if ("status" in outcome) return outcome.status;
      throw problemOf(outcome.code, queue, body);
    },

    /** Up to 100 tasks, each taken or refused on its own. */
    async batch(queue: string, bodies: readonly Body[], text: string): Promise<BatchAnswer> {
      const elements = elementTexts(memberTexts(text).get("tasks") ?? "[]");
      const payloads = elements.map((element) => memberTexts(element).get("payload") ?? "null");
      const outcomes = await take(queue, bodies, payloads);
      return {
        tasks: outcomes.map((one) => ("status" in one ? one.status : { id: one.id, code: one.code })),
      };
    },
  };
}

const isTooLarge = (payload: string) => new TextEncoder().encode(payload).length > MAX_PAYLOAD_BYTES;

/** Where a task waits first; one of a class that the policy has not is only known, if it was taken in before. */
function placeOf(body: Body, policy: Policy): Place {
  if (!Object.hasOwn(policy.classes, body.class)) return "known";
  return body.delay_ms > 0 ? "delayed" : "ready";
}

async function taskOf(
  body: Body,
  id: string,
  turn: number,
  payload: string,
  policy: Policy,
  now: number,
): Promise<Task> {
  const { priority, delay_ms, max_deliveries, time_limit_ms } = body;
  return {
    turn,
    id,
    class: body.class,
    priority,
    enqueued_at: now,
    age_at: now + delay_ms,
    rank: rankOf(policy.classes[body.class]?.ratio ?? 1),
    max_deliveries,
    time_limit_ms,
    hash: await hashOf(
      [payload, priority, body.class, delay_ms, max_deliveries ?? 0, time_limit_ms ?? 0].join("\n"),
    ),
    deliveries: 0,
    deferred: 0,
    failed: false,
  };
}

/** 64 bits of SHA-256, in the letters of base64url, over everything that makes two bodies the same. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const letters = btoa(String.fromCharCode(...new Uint8Array(digest, 0, 8)));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function outcomeOf(id: string, reply: readonly [string, string] | undefined): Outcome {
  const [outcome, state] = reply ?? ["", ""];
  if (outcome === "conflict") return { id, code: "id-conflict" };
  if (outcome === "full") return { id, code: "queue-full" };
  if (outcome === "unknown") return { id, code: "unknown-class" };
  return { id, status: { id, state: state as EnqueueAnswer["state"], duplicate: outcome === "duplicate" } };
}

function problemOf(code: ProblemCode, queue: string, body: Body): Problem {
  switch (code) {
    case "unknown-class":
      return new Problem(code, `the fleet's policy has no class ${body.class}`, {
        errors: [{ path: "class", message: "is not a class of the fleet's policy" }],
      });
    case "too-large":
      return new Problem(code, `the payload is larger than ${MAX_PAYLOAD_BYTES} bytes`, {
        errors: [{ path: "payload", message: `must be at most ${MAX_PAYLOAD_BYTES} bytes` }],
      });
    case "queue-full":
      return new Problem(code, `the queue ${queue} has reached its max_backlog`, {
        headers: { "retry-after": String(Math.ceil(retryAfterMs(2) / 1_000)) },
      });
    default:
      return new Problem(code, `the id ${body.id} was enqueued before with another body`, {
        errors: [{ path: "id", message: "is taken by another body" }],
      });
  }
}
