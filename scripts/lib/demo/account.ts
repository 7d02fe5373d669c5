import type { Trail } from "./lines.ts";
import type { ProducerLine, QueueEntry, WorkerLine } from "./queue-lines.ts";

/** Every task of a queue demo, accounted for. */
export interface Account {
  enqueued: number;
  completed: number;
  dead: number;
  /** Deliveries handed out, and those that ended with a kill or a lost lease. */
  deliveries: number;
  redelivered: number;
  /** Enqueues that found their first try had been carried out, its answer lost. */
  duplicates: number;
  /** Completions that the coordinator has, but whose worker was killed before it could write down the answer. */
  unheard: number;
  /** Reports that came too late and were refused. */
  rejected: number;
  breaches: string[];
}

/** Draws up the account: what producers and workers wrote down, against the state the coordinator gives for each task. */
export function drawUpAccount(trails: Trail<QueueEntry>[], states: Map<string, string>): Account {
  const entries = trails.flatMap((trail) => trail.entries);
  const of = <E extends QueueEntry["event"]>(event: E) =>
    entries.filter((line): line is QueueEntry & { event: E } => line.event === event);
  const accepted = new Set(of("accepted").map(({ id }) => id));
  const promised = new Set(of("pending").map(({ task }) => task.id));
  const claimed = of("claimed");
  const completions = Map.groupBy(of("completed"), ({ id }) => id);
  const reported = new Set(of("completing").map(({ id }) => id));
  const inState = (state: string) => [...accepted].filter((id) => states.get(id) === state);
  const account: Account = {
    enqueued: accepted.size,
    completed: inState("completed").length,
    dead: inState("dead").length,
    deliveries: claimed.length,
    redelivered: claimed.length - new Set(claimed.map(({ id }) => id)).size,
    duplicates: of("accepted").filter(({ duplicate }) => duplicate).length,
    unheard: 0,
    rejected: of("rejected").length,
    breaches: overlaps(trails),
  };
  const breach = (text: string) => account.breaches.push(text);
  if (account.enqueued === 0) breach("no task was enqueued");
  for (const id of promised) if (!accepted.has(id)) breach(`${id} was promised and never taken`);
  for (const [id, all] of completions) {
    if (all.length > 1) breach(`${id} was completed ${all.length} times`);
    if (!accepted.has(id)) breach(`${id} was completed and never enqueued`);
  }
  for (const id of accepted) {
    const state = states.get(id);
    const heard = completions.has(id);
    if (state !== "completed" && state !== "dead") breach(`${id} is ${state ?? "lost"}`);
    if (heard && state !== "completed") breach(`${id} was completed, yet is ${state ?? "lost"}`);
    if (heard || state !== "completed") continue;
    account.unheard++;
    if (!reported.has(id)) breach(`${id} is completed, and no worker says so`);
  }
  return account;
}

/** Tasks that two workers had at once: each delivery lasts until its worker reported, lost it, or was killed. */
function overlaps(trails: Trail<QueueEntry>[]): string[] {
  const held = trails.flatMap(({ entries, killedAt }) =>
    entries.flatMap((line) => {
      if (line.event !== "claimed") return [];
      const end = entries.find((one) => endsDelivery(one) && one.lease === line.lease);
      return [{ id: line.id, from: line.at, to: end?.at ?? killedAt ?? entries.at(-1)?.at ?? line.at }];
    }),
  );
  return [...Map.groupBy(held, ({ id }) => id)].flatMap(([id, all]) => {
    const inTurn = all.toSorted((one, other) => one.from - other.from);
    const clash = inTurn.some(({ from }, place) => from < (inTurn[place - 1]?.to ?? 0));
    return clash ? [`${id} was in two hands at once`] : [];
  });
}

const endsDelivery = (
  line: ProducerLine | WorkerLine,
): line is WorkerLine & { event: "completing" | "failing" | "lost" } =>
  line.event === "completing" || line.event === "failing" || line.event === "lost";
