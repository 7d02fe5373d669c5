/** The Redis keys of one fleet; docs/keyspace.md lists type, members, scores and lifetime of each. */
export interface FleetKeys {
  members: string;
  pods: string;
  policy: string;
  drain: string;
}

/** Every Redis key the product uses. */
export interface Keys {
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
  };
}
