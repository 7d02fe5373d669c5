/** The Redis keys of one fleet; docs/keyspace.md lists type, members, scores and lifetime of each. */
export interface FleetKeys {
  members: string;
  pods: string;
  policy: string;
  drain: string;
  /** Totals, and the ring of samples. */
  history: string;
}

/** The Redis keys of one queue, in the slot of its fleet. */
export interface QueueKeys {
  members: string;
  ready: string;
  timers: string;
  running: string;
  dead: string;
  history: string;
  record(task: string): string;
  failure(task: string): string;
  request(holder: string): string;
}

/** The Redis keys of one limit's configuration; its buckets live apart, each with its own tag. */
export interface LimitKeys {
  configuration: string;
  /** The rate an adapting limit has come to. */
  pace: string;
}

/** The Redis keys of one bucket: a limit's key, by the hash of its text, and one request on it. */
export interface BucketKeys {
  bucket: string;
  request: string;
}

/** The Redis keys of one filter; `generation` counts its generations. */
export interface FilterKeys {
  configuration: string;
  shard(generation: number, shard: number): string;
}

/** Every Redis key the product uses. */
export interface Keys {
  filter(filter: string): FilterKeys;
  limit(limit: string): LimitKeys;
  bucket(limit: string, hash: string, request?: string): BucketKeys;
  /** The names of limits that adapt. */
  adapting: string;
  fleet(fleet: string): FleetKeys;
  queue(fleet: string, queue: string): QueueKeys;
  /** What a queue is; apart from its tasks, since its fleet is only known from it. */
  queueConfig(queue: string): string;
  /** The registries of names. */
  fleets: string;
  queues: string;
  limits: string;
  /** Totals of the whole coordinator. */
  totals: string;
}

/**
 * Makes the keys under `prefix`. The hash tag is the fleet's name, so all keys of one script share a slot;
 * names hold no braces (PROTOCOL, common rules), so a user cannot move the tag.
 */
export function makeKeys(prefix: string): Keys {
  const fleetTag = (fleet: string) => `${prefix}:{fleet:${fleet}}`;
  return {
    fleet: (fleet) => ({
      members: `${fleetTag(fleet)}:members`,
      pods: `${fleetTag(fleet)}:pods`,
      policy: `${fleetTag(fleet)}:policy`,
      drain: `${fleetTag(fleet)}:drain`,
      history: `${fleetTag(fleet)}:history`,
    }),
    queue: (fleet, queue) => {
      const base = `${fleetTag(fleet)}:queue:${queue}`;
      return {
        members: `${fleetTag(fleet)}:members`,
        ready: `${base}:ready`,
        timers: `${base}:timers`,
        running: `${base}:running`,
        dead: `${base}:dead`,
        history: `${base}:history`,
        record: (task) => `${base}:task:${task}`,
        failure: (task) => `${base}:failure:${task}`,
        request: (holder) => `${base}:request:${holder}`,
      };
    },
    queueConfig: (queue) => `${prefix}:{queue:${queue}}:config`,
    fleets: `${prefix}:fleets`,
    queues: `${prefix}:queues`,
    limits: `${prefix}:limits`,
    filter: (filter) => ({
      configuration: `${prefix}:{filter:${filter}}:configuration`,
      shard: (generation, shard) => `${prefix}:{filter:${filter}}:bits:${generation}:${shard}`,
    }),
    limit: (limit) => ({
      configuration: `${prefix}:{limit:${limit}}:configuration`,
      pace: `${prefix}:{limit:${limit}}:pace`,
    }),
    bucket: (limit, hash, request = "") => ({
      bucket: `${prefix}:{limit:${limit}/${hash}}:bucket`,
      request: `${prefix}:{limit:${limit}/${hash}}:request:${request}`,
    }),
    adapting: `${prefix}:adapting`,
    totals: `${prefix}:totals`,
  };
}
