import { expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { startFaultyServer } from "./support/faulty-server.ts";
import { joined, KEY } from "./support/joined.ts";

/** Nothing else runs meanwhile, the coordinator of these tests neither. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

// Apart from other tests, which would be blocked too.
it("a call that was under way while the event loop was blocked is heard before it is given up", async () => {
  await using server = await startFaultyServer(() => ({ body: { fleets: [] } }));
  const call = createClient({ url: server.url, key: KEY, timeoutMs: 300, deadlineMs: 500 }).fleets();
  block(900);
  expect(await call).toEqual({ fleets: [] });
  expect(server.seen).toHaveLength(1);
});

it("an acquire that was under way meanwhile has its slot, and is not degraded", async () => {
  await using world = await joined();
  const acquiring = world.pod.acquire();
  block(1_500);
  expect(await acquiring).toMatchObject({ degraded: false });
  expect(world.coordinator.calls("acquire")).toHaveLength(1);
});
