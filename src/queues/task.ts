import { tenThousandths } from "../leases/capacity.ts";

/** A task as its member text says it; times in epoch ms, absent ones undefined. */
export interface Task {
  turn: number;
  id: string;
  class: string;
  priority: number;
  enqueued_at: number;
  /** From when its age counts: its enqueue, or when a delayed one falls due. */
  age_at: number;
  rank: number;
  max_deliveries?: number | undefined;
  time_limit_ms?: number | undefined;
  hash: string;
  deliveries: number;
  deferred: number;
  first_claimed_at?: number | undefined;
  last_claimed_at?: number | undefined;
  /** Whether a failure was noted, so that ending it drops the note too. */
  failed: boolean;
}

/** A delivery under way, as its lease id says it. */
export interface Delivery {
  class: string;
  ttl_ms: number;
  queue: string;
  deadline_at: number;
  claimed_at: number;
  task: Task;
}

const FIELD_COUNT = 15;
const TASK =
  /^(\d+)\/([^/\s]+)\/([^/\s]+)\/(\d)\/(\d+)\/(\d*)\/(\d+)\/(\d*)\/(\d*)\/([^/\s]+)\/(\d+)\/(\d+)\/(\d*)\/(\d*)\/([01])$/;
const text = (value: number | undefined) => value?.toString() ?? "";
const number = (value: string | undefined) => (value ? Number(value) : undefined);

/** The member text of a task; src/queues/task.lua names the places. */
export function taskText(task: Task): string {
  return [
    String(task.turn).padStart(2, "0"),
    task.id,
    task.class,
    task.priority,
    task.enqueued_at,
    task.age_at === task.enqueued_at ? "" : task.age_at,
    task.rank,
    text(task.max_deliveries),
    text(task.time_limit_ms),
    task.hash,
    task.deliveries,
    task.deferred,
    text(task.first_claimed_at),
    text(task.last_claimed_at),
    task.failed ? 1 : 0,
  ].join("/");
}

/** Reads a member text back; undefined for one that is not of its shape. */
export function parseTask(member: string): Task | undefined {
  const parts = TASK.exec(member);
  if (!parts) return undefined;
  const [, turn, id = "", className = "", priority, enqueued, age, rank, max, limit, hash = "", ...rest] =
    parts;
  const [deliveries, deferred, first, last, failed] = rest;
  return {
    turn: Number(turn),
    id,
    class: className,
    priority: Number(priority),
    enqueued_at: Number(enqueued),
    age_at: Number(age || enqueued),
    rank: Number(rank),
    max_deliveries: number(max),
    time_limit_ms: number(limit),
    hash,
    deliveries: Number(deliveries),
    deferred: Number(deferred),
    first_claimed_at: number(first),
    last_claimed_at: number(last),
    failed: failed === "1",
  };
}

/** Reads a task's lease id; undefined for one that is not a task's. */
export function parseDelivery(lease: string): Delivery | undefined {
  const [kind, , , , className, ttl, queue, deadline, claimed, ...rest] = lease.split("/");
  const task = parseTask(rest.join("/"));
  if (kind !== "t" || !className || !queue || !task) return undefined;
  return {
    class: className,
    ttl_ms: Number(ttl),
    queue,
    deadline_at: Number(deadline),
    claimed_at: Number(claimed),
    task,
  };
}

/**
 * The place of a class among others, larger ratios first: 0…799. Two that differ by less than 0.00125 may rank as
 * one, since a score has room for no more beside priority and age.
 */
export const rankOf = (ratio: number): number => Math.floor((10_000 - tenThousandths(ratio)) * 0.08);

/** The score of a waiting task; src/queues/task.lua computes the same. */
export function orderOf({ rank, priority, age_at }: Task): number {
  return rank * 1e13 + (9 - priority) * 1e12 + Math.max(0, age_at - 1.75e12);
}

/** The member of the dead set for this task: its id first, so that it is found and paged by id. */
export function deadText(task: Task, diedAt: number, reason: string): string {
  return `${task.id}/${diedAt}/${taskText(task)}/${reason}`;
}

/** Reads a dead member back. */
export function parseDead(member: string): { died_at: number; task: Task; reason: string } | undefined {
  const [, died, ...rest] = member.split("/");
  const task = parseTask(rest.slice(0, FIELD_COUNT).join("/"));
  return task && { died_at: Number(died), task, reason: rest.slice(FIELD_COUNT).join("/") };
}

let lastId = 0;

/** A new id that sorts by time: 9 characters of ms in base 36, then 12 of chance; later ones of an isolate sort later. */
export function newTaskId(now: number): string {
  lastId = Math.max(now * 1_000, lastId + 1);
  const time = Math.floor(lastId / 1_000)
    .toString(36)
    .padStart(9, "0");
  const turn = (lastId % 1_000).toString(36).padStart(2, "0");
  return `${time}${turn}${crypto.randomUUID().replaceAll("-", "").slice(0, 10)}`;
}
