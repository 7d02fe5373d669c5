import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { startStack } from "../../../scripts/lib/stack.ts";
import { createClient, type Fleet } from "../../../src/client/index.ts";

/** A whole coordinator in workerd, over the tests' Redis with a prefix of its own. */
export interface Live extends AsyncDisposable {
  url: string;
  key: string;
  fleet(name: string): Fleet;
}

/** Starts a coordinator; its files are gone when it ends. */
export async function startLive(): Promise<Live> {
  const dir = mkdtempSync(join(tmpdir(), "fleetgate-client-"));
  const env = {
    UPSTASH_REDIS_REST_URL: inject("restUrl"),
    UPSTASH_REDIS_REST_TOKEN: inject("restToken"),
    FLEETGATE_PREFIX: `client-${crypto.randomUUID().slice(0, 8)}`,
  };
  const { url, key, stop } = await startStack({ dir, port: 0, env });
  return {
    url,
    key,
    fleet: (name) => createClient({ url, key }).fleet(name),
    [Symbol.asyncDispose]: async () => {
      await stop();
      rmSync(dir, { recursive: true });
    },
  };
}
