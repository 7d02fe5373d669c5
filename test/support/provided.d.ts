import "vitest";

declare module "vitest" {
  /** What every test gets by `inject()`: the shared Redis (a one-node cluster) and the REST front before it. */
  export interface ProvidedContext {
    restUrl: string;
    restToken: string;
    redisUrl: string;
    /** The REST front of a Redis that one test file has to itself: `test/lua/alone.test.ts`. Same token. */
    aloneUrl: string;
    /** The REST front of a Redis that is no cluster, where one script may touch any keys. Same token. */
    plainUrl: string;
    /** A key with every scope, known to the Worker that runs the tests (`exports.default.fetch`). */
    adminKey: string;
    /** A front that misbehaves before the shared one; `faultLane()` in faults.ts makes the URLs. */
    faultUrl: string;
    /** Seed of the random tests: FLEETGATE_SEED, or another one for each run. */
    seed: number;
  }
}
