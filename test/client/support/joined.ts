import { createClient, type JoinOptions, type Pod } from "../../../src/client/index.ts";
import { type Behaviour, type FakeCoordinator, startFakeCoordinator } from "./fake-coordinator.ts";

/** The key that tests use; it must never be seen in an error. */
export const KEY = "fg_very-secret-key";

/** A fake coordinator and a pod that joined it; both end with the block. */
export async function joined(
  behaviour: Partial<Behaviour> = {},
  options: Partial<JoinOptions> = {},
): Promise<{ coordinator: FakeCoordinator; pod: Pod } & AsyncDisposable> {
  const coordinator = await startFakeCoordinator(behaviour);
  const client = createClient({ url: coordinator.url, key: KEY, timeoutMs: 1_000, deadlineMs: 1_500 });
  const pod = await client.fleet("render").join({
    cluster: "eu",
    pod: "worker-0",
    handleSignals: false,
    unavailableAfterMs: 600,
    ...options,
  });
  return {
    coordinator,
    pod,
    [Symbol.asyncDispose]: async () => {
      coordinator.behaviour.instead = () => undefined;
      coordinator.behaviour.afterwards = () => undefined;
      await pod.leave();
      await coordinator[Symbol.asyncDispose]();
    },
  };
}
