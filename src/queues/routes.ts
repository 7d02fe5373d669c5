import * as z from "zod/mini";
import { refuseForeign } from "../http/auth.ts";
import { name, page } from "../http/fields.ts";
import { type Operation, operation } from "../http/operation.ts";
import { toldBroken } from "../redis/readable.ts";
import type { Queues } from "./queues.ts";
import * as wire from "./schema.ts";

const params = z.strictObject({ queue: name });
const task = z.strictObject({ queue: name, id: wire.taskId });
const base = "/v1/queues/{queue}";

/** Each takes a command, and an operator reads no more. */
const MOST_LISTED = 200;

/** The wire of the queues room (PROTOCOL, Queues). */
export function queueRoutes(queues: Queues): Operation[] {
  return [
    operation({
      id: "queues.list",
      method: "GET",
      path: "/v1/queues",
      summary: "Counts of every queue heard of in the last 24 hours, or of those of one fleet",
      scopes: ["read"],
      params: z.strictObject({}),
      query: z.strictObject({ fleet: z.optional(name) }),
      answer: wire.queuesAnswer,
      handle: async ({ query, caller }) => {
        refuseForeign(caller, query);
        const names = (await queues.names()).filter((queue) => caller.mayTouch("queues", queue));
        names.sort();
        // To know whose they are, all must be looked at; their counts are taken of those alone.
        const { rows, broken } = query.fleet
          ? await queues.statuses(names, ({ fleet }) => fleet === query.fleet, MOST_LISTED)
          : await queues.statuses(names.slice(0, MOST_LISTED));
        return { body: { queues: rows, ...toldBroken(broken) } };
      },
    }),
    operation({
      id: "queues.configure",
      method: "PUT",
      path: base,
      summary: "Make a queue, or change what it is",
      scopes: [],
      params,
      body: wire.queueBody,
      answer: wire.queueBody,
      handle: async ({ params, body, caller }) => {
        refuseForeign(caller, body);
        return { body: await queues.configure(params.queue, body) };
      },
    }),
    operation({
      id: "queues.status",
      method: "GET",
      path: base,
      summary: "Counts of one queue, right from the read alone",
      scopes: ["read"],
      params,
      answer: wire.queueAnswer,
      handle: async ({ params }) => ({ body: await queues.status(params.queue) }),
    }),
    operation({
      id: "queues.enqueue",
      method: "POST",
      path: `${base}/tasks`,
      summary: "Take in a task, once by its id",
      scopes: ["producer"],
      params,
      body: wire.taskBody,
      answer: wire.enqueueAnswer,
      statuses: [200, 201],
      handle: async ({ params, body, text }) => {
        const answer = await queues.enqueue(params.queue, body, text);
        return { body: answer, status: answer.duplicate ? 200 : 201 };
      },
    }),
    operation({
      id: "queues.batch",
      method: "POST",
      path: `${base}/tasks/batch`,
      summary: "Take in up to 100 tasks",
      scopes: ["producer"],
      params,
      body: wire.tasksBody,
      answer: wire.batchAnswer,
      handle: async ({ params, body, text }) => ({
        body: await queues.batch(params.queue, body.tasks, text),
      }),
    }),
    operation({
      id: "queues.claim",
      method: "POST",
      path: `${base}/claim`,
      summary: "Get tasks with a slot for each, or neither",
      scopes: ["worker"],
      params,
      body: wire.claimBody,
      answer: wire.claimAnswer,
      handle: async ({ params, body, caller, signal }) => {
        // Its tasks take slots of its fleet, so the key must reach that too.
        refuseForeign(caller, { fleet: await queues.fleetOf(params.queue) });
        const { answer, json } = await queues.claim(params.queue, body, signal);
        if (answer.retry_after_ms === undefined) return { body: answer, json };
        return {
          body: answer,
          json,
          headers: { "retry-after": String(Math.ceil(answer.retry_after_ms / 1_000)) },
        };
      },
    }),
    operation({
      id: "queues.complete",
      method: "POST",
      path: `${base}/complete`,
      summary: "End a delivery with its result",
      scopes: ["worker"],
      params,
      body: wire.completeBody,
      answer: wire.completeAnswer,
      handle: async ({ params, body, text }) => ({ body: await queues.complete(params.queue, body, text) }),
    }),
    operation({
      id: "queues.fail",
      method: "POST",
      path: `${base}/fail`,
      summary: "End a delivery without a result",
      scopes: ["worker"],
      params,
      body: wire.failBody,
      answer: wire.failAnswer,
      handle: async ({ params, body }) => ({ body: await queues.fail(params.queue, body) }),
    }),
    operation({
      id: "queues.task",
      method: "GET",
      path: `${base}/tasks/{id}`,
      summary: "Where a task is, and its result",
      scopes: ["read", "producer"],
      params: task,
      answer: wire.taskAnswer,
      handle: async ({ params }) => {
        const { answer, json } = await queues.task(params.queue, params.id);
        return { body: answer, json };
      },
    }),
    operation({
      id: "queues.cancel",
      method: "DELETE",
      path: `${base}/tasks/{id}`,
      summary: "Cancel a task",
      scopes: ["producer"],
      params: task,
      answer: wire.cancelAnswer,
      handle: async ({ params }) => ({ body: await queues.cancel(params.queue, params.id) }),
    }),
    operation({
      id: "queues.dead",
      method: "GET",
      path: `${base}/dead`,
      summary: "The dead letters, page by page",
      scopes: ["read"],
      params,
      query: page,
      answer: wire.deadAnswer,
      handle: async ({ params, query }) => ({
        body: await queues.dead(params.queue, query.cursor, query.limit),
      }),
    }),
    operation({
      id: "queues.redrive",
      method: "POST",
      path: `${base}/redrive`,
      summary: "Make dead tasks ready again with a fresh count",
      scopes: [],
      params,
      body: wire.redriveBody,
      answer: wire.redriveAnswer,
      handle: async ({ params, body }) => ({ body: await queues.redrive(params.queue, body.ids) }),
    }),
    operation({
      id: "queues.purge",
      method: "POST",
      path: `${base}/purge`,
      summary: "Drop all tasks of one state for good",
      scopes: [],
      params,
      body: wire.purgeBody,
      answer: wire.purgeAnswer,
      handle: async ({ params, body }) => ({ body: await queues.purge(params.queue, body.state) }),
    }),
  ];
}
