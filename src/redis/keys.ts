/** The Redis keys of one fleet; docs/keyspace.md lists type, members, scores and lifetime of each. */
export interface FleetKeys {
  members: string;
  pods: string;
  policy: string;
  drain: string;
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

/** Every Redis key the product uses. */
export interface Keys {
  limit(limit: string): LimitKeys;
  bucket(limit: string, hash: string, request?: string): BucketKeys;
  /** The names of limits that adapt. */
  adapting: string;
  fleet(fleet: string): FleetKeys;
  /** The registry of fleet names. */
  fleets: string;
}

/**
 * Makes the keys under `prefix`. The hash tag is the fleet's name, so all keys of one script share a slot;
 * names hold no braces (PROTOCOL, common rules), so a user cannot move the tag.
 */
export function makeKeys(prefix: string): Keys {
  return {
    fleet: (fleet) => ({
      members: `${prefix}:{fleet:${fleet}}:members`,
      pods: `${prefix}:{fleet:${fleet}}:pods`,
      policy: `${prefix}:{fleet:${fleet}}:policy`,
      drain: `${prefix}:{fleet:${fleet}}:drain`,
    }),
    fleets: `${prefix}:fleets`,
    limit: (limit) => ({
      configuration: `${prefix}:{limit:${limit}}:configuration`,
      pace: `${prefix}:{limit:${limit}}:pace`,
    }),
    bucket: (limit, hash, request = "") => ({
      bucket: `${prefix}:{limit:${limit}/${hash}}:bucket`,
      request: `${prefix}:{limit:${limit}/${hash}}:request:${request}`,
    }),
    adapting: `${prefix}:adapting`,
  };
}
