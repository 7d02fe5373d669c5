import type { CallOptions, Client, Filter, Fleet, Limit, Queue } from "../../../src/client/index.ts";

/** What a case of test/conformance/cases.json gives to its call; `about` in the file says what is what. */
export interface Args {
  fleet?: string;
  queue?: string;
  limit?: string;
  filter?: string;
  id?: string;
  key?: string;
  body?: Record<string, unknown>;
  query?: Record<string, unknown>;
  options?: { deadline_ms?: number };
}

type Calls<Room> = Record<string, (room: Room, args: Args, options: CallOptions | undefined) => unknown>;

const fleets: Calls<Fleet> = {
  status: (fleet, _, options) => fleet.status(options),
  get_policy: (fleet, _, options) => fleet.getPolicy(options),
  put_policy: (fleet, args, options) => fleet.putPolicy(given(args), options),
  pods: (fleet, args, options) => fleet.pods(given(args), options),
  pod_pages: (fleet, args, options) => every(fleet.podPages(given(args), options)),
  heartbeat: (fleet, args, options) => fleet.heartbeat(given(args), options),
  heartbeats: (fleet, args, options) => fleet.heartbeats(given(args), options),
  acquire: (fleet, args, options) => fleet.acquire(given(args), options),
  release: (fleet, args, options) => fleet.release(given(args), options),
  leave: (fleet, args, options) => fleet.leave(given(args), options),
  drain: (fleet, args, options) => fleet.drain(given(args), options),
  draining: (fleet, _, options) => fleet.draining(options),
  scale: (fleet, args, options) => fleet.scale(given(args), options),
  idle: (fleet, args, options) => fleet.idle(given(args), options),
  history: (fleet, args, options) => fleet.history(given(args), options),
};

const queues: Calls<Queue> = {
  configure: (queue, args, options) => queue.configure(given(args), options),
  queue_status: (queue, _, options) => queue.status(options),
  enqueue: (queue, args, options) => queue.enqueue(given(args), options),
  enqueue_batch: (queue, args, options) => queue.enqueueBatch(given(args), options),
  claim: (queue, args, options) => queue.claim(given(args), options),
  complete: (queue, args, options) => queue.complete(given(args), options),
  fail: (queue, args, options) => queue.fail(given(args), options),
  task: (queue, { id = "" }, options) => queue.task(id, options),
  cancel: (queue, { id = "" }, options) => queue.cancel(id, options),
  dead: (queue, args, options) => queue.dead(given(args), options),
  dead_pages: (queue, args, options) => every(queue.deadPages(given(args), options)),
  redrive: (queue, args, options) => queue.redrive(given(args), options),
  purge: (queue, args, options) => queue.purge(given(args), options),
  scale: (queue, args, options) => queue.scale(given(args), options),
  history: (queue, args, options) => queue.history(given(args), options),
};

const limits: Calls<Limit> = {
  put_limit: (limit, args, options) => limit.put(given(args), options),
  get_limit: (limit, _, options) => limit.get(options),
  delete_limit: (limit, _, options) => limit.delete(options),
  take: (limit, args, options) => limit.take(given(args), options),
  settle: (limit, args, options) => limit.settle(given(args), options),
  peek: (limit, { key }, options) => limit.peek(key, options),
};

const filters: Calls<Filter> = {
  put_filter: (filter, args, options) => filter.put(given(args), options),
  get_filter: (filter, _, options) => filter.get(options),
  delete_filter: (filter, _, options) => filter.delete(options),
  add: (filter, args, options) => filter.add(itemsOf(args), options),
  check: async (filter, args, options) => ({ present: await filter.check(itemsOf(args), options) }),
  guard: (filter, args, options) => filter.guard(given(args), options),
  rotate: (filter, _, options) => filter.rotate(options),
};

const clients: Calls<Client> = {
  fleets: (client, _, options) => client.fleets(options),
  queues: (client, args, options) => client.queues(given(args), options),
  limits: (client, _, options) => client.limits(options),
  take_all: (client, args, options) => client.take(given(args), options),
};

/** Makes the call that a case names. */
export async function perform(client: Client, call: string, args: Args): Promise<unknown> {
  const options = args.options && { deadlineMs: args.options.deadline_ms };
  const make = <Room>(calls: Calls<Room>, room: Room) => {
    const run = calls[call];
    if (!run) throw new Error(`the file names a call this client does not know: ${call}`);
    return run(room, args, options);
  };
  if (args.fleet !== undefined) return make(fleets, client.fleet(args.fleet));
  if (args.queue !== undefined) return make(queues, client.queue(args.queue));
  if (args.limit !== undefined) return make(limits, client.limit(args.limit));
  if (args.filter !== undefined) return make(filters, client.filter(args.filter));
  return make(clients, client);
}

/** What a file gives as body or query stands for what the call takes: the file is right where the requests are. */
const given = <B>({ query, body }: Args): B => (query ?? body) as B;

const itemsOf = (args: Args) => given<{ items: string[] }>(args).items;

async function every<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const page of pages) read.push(page);
  return read;
}
