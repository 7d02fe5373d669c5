import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { bundleWorker } from "../../scripts/lib/bundle.ts";
import { startWorker } from "../../scripts/lib/worker.ts";
import { startFakeCoordinator } from "./support/fake-coordinator.ts";

it("the client runs in workerd, where thread: true is a clear error", { timeout: 60_000 }, async () => {
  await using coordinator = await startFakeCoordinator();
  const config = fileURLToPath(new URL("./support/in-workerd/wrangler.toml", import.meta.url));
  const bindings = { COORDINATOR: coordinator.url, KEY: "fg_key" };
  const worker = await startWorker({ port: 0, bindings, bundle: await bundleWorker(config) });
  try {
    expect(await (await fetch(worker.url)).json()).toEqual({
      directive: "run",
      granted: true,
      thread: "unsupported",
      released: "released",
      left: "left",
    });
  } finally {
    await worker.stop();
  }
});
