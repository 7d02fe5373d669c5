import {
  createClient,
  type Handler,
  type JoinOptions,
  type Worker,
  type WorkerOptions,
} from "../../../src/client/index.ts";
import { type Behaviour, type FakeCoordinator, startFakeCoordinator } from "./fake-coordinator.ts";
import { KEY } from "./joined.ts";

/** A fake coordinator and a worker of its queue; both end with the block. */
export async function working(
  handler: Handler,
  behaviour: Partial<Behaviour> = {},
  options: Partial<WorkerOptions & JoinOptions> = {},
): Promise<{ coordinator: FakeCoordinator; worker: Worker } & AsyncDisposable> {
  const coordinator = await startFakeCoordinator(behaviour);
  const client = createClient({ url: coordinator.url, key: KEY, timeoutMs: 1_000, deadlineMs: 1_500 });
  const worker = await client.queue("infer").work(handler, {
    cluster: "eu",
    pod: "worker-0",
    fleet: "render",
    handleSignals: false,
    unavailableAfterMs: 600,
    graceMs: 200,
    waitMs: 200,
    ...options,
  });
  return {
    coordinator,
    worker,
    [Symbol.asyncDispose]: async () => {
      coordinator.behaviour.instead = () => undefined;
      coordinator.behaviour.afterwards = () => undefined;
      await worker.stop();
      await coordinator[Symbol.asyncDispose]();
    },
  };
}
