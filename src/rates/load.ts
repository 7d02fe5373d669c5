/** What a limit that adapts follows: tasks that wait or run, and how many end in a second, over the last 10 s or so. */
export interface QueueLoad {
  backlog: number;
  drain_per_s: number;
}

/** Reads a queue's load; undefined for a queue that nobody knows, and the limit then keeps its rate. */
export type LoadOf = (queue: string) => Promise<QueueLoad | undefined>;
