import * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { claimGate } from "../leases/denials.ts";
import type { QueuesOptions } from "./options.ts";
import type { DeadAnswer, PurgeAnswer, RedriveAnswer } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { parseDead, parseTask } from "./task.ts";

/** A call redrives or purges at most this many in a step. */
const STEP = 1_000;
const PURGE_STEP = 500;
const PURGE_STEPS = 20;

/** Dead letters, and the operator's calls on whole states. They see what a sweep has moved, so each sweeps first. */
export function makeLetters(
  { store, keys, configs, denials }: QueuesOptions,
  sweep: (queue: string) => Promise<unknown>,
) {
  return {
    /** One page of the dead, in order of their ids. */
    async dead(queue: string, cursor: string | undefined, limit: number): Promise<DeadAnswer> {
      const { fleet } = await configs.of(queue);
      await sweep(queue);
      const at = keys.queue(fleet, queue);
      const args = { state: "letters", after: cursor === undefined ? "" : decode(cursor), limit: limit + 1 };
      const members = await store.run(scripts.listTasks, { keys: at, args });
      const page = members.slice(0, limit).flatMap((member) => parseDead(member) ?? []);
      const notes = { texts: page.map(({ task }) => at.failure(task.id)) };
      const texts = page.length > 0 ? await store.read(notes, z.array(z.nullable(z.string()))) : [];
      const last = page.at(-1);
      return {
        tasks: page.map(({ task, died_at, reason }, place) => ({
          id: task.id,
          reason,
          error: texts[place]?.slice(texts[place].indexOf("\n") + 1) || null,
          deliveries: task.deliveries,
          enqueued_at: task.enqueued_at,
          first_claimed_at: task.first_claimed_at ?? null,
          last_claimed_at: task.last_claimed_at ?? null,
          died_at,
        })),
        next: members.length > limit && last ? btoa(last.task.id) : null,
      };
    },

    /** Makes dead tasks ready again with a fresh count: those named, or the first 1,000. */
    async redrive(queue: string, ids: readonly string[] | undefined): Promise<RedriveAnswer> {
      const { fleet } = await configs.of(queue);
      await sweep(queue);
      const call = { keys: keys.queue(fleet, queue), args: { limit: STEP }, rest: [...new Set(ids)] };
      const redriven = await store.run(scripts.redrive, call);
      denials.forget(fleet, claimGate(queue));
      return { redriven };
    },

    /** Drops tasks of one state for good, at most 10,000 a call. */
    async purge(queue: string, state: "ready" | "delayed" | "dead"): Promise<PurgeAnswer> {
      const { fleet } = await configs.of(queue);
      await sweep(queue);
      const at = keys.queue(fleet, queue);
      const from = { ready: at.ready, delayed: at.timers, dead: at.dead }[state];
      let purged = 0;
      for (let step = 0; step < PURGE_STEPS; step++) {
        const members = await store.run(scripts.listTasks, {
          keys: at,
          args: { state, after: "", limit: PURGE_STEP },
        });
        const ids = members.map(idOf);
        const restKeys = ids.flatMap((id) => [at.record(id), at.failure(id)]);
        if (members.length > 0) {
          purged += await store.run(scripts.purge, { keys: { from }, restKeys, args: {}, rest: members });
        }
        if (members.length < PURGE_STEP) break;
      }
      return { purged };
    },
  };
}

const idOf = (member: string) =>
  parseTask(member.startsWith("d/") ? member.slice(2) : member)?.id ?? member.split("/", 1)[0] ?? "";

function decode(cursor: string): string {
  try {
    const id = atob(cursor);
    if (/^[\w.-]{1,64}$/.test(id)) return id;
  } catch {}
  throw Problem.field("cursor", "is not one that this call gave");
}
