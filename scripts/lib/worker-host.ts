// The process in which Miniflare runs workerd: apart from its parent, since Miniflare answers signals by
// ending its process at once, and since this way workerd ends even when the parent was killed.
import { Miniflare, NoOpLog } from "miniflare";
import type { Bundle } from "./bundle.ts";

/** What the parent sends first. */
export interface HostStart {
  bundle: Bundle;
  port: number;
  bindings: Record<string, string>;
}

/** What the parent hears: once ready or failed, and after each scheduled run that it asked for. */
export type HostMessage = { ready: string } | { failed: string } | { scheduled: number; error?: string };

const END_TIMEOUT_MS = 3_000;

let miniflare: Miniflare | undefined;

process.once("message", async (start: HostStart) => {
  try {
    miniflare = new Miniflare(options(start));
    const url = await miniflare.ready;
    report({ ready: url.origin });
    process.on("message", runScheduled);
  } catch (error) {
    report({ failed: (error as Error).message });
  }
});

process.once("disconnect", async () => {
  // Miniflare ends workerd first and then tidies up; should that hang, ending this process is enough.
  setTimeout(() => process.exit(1), END_TIMEOUT_MS);
  await miniflare?.dispose().catch(() => {});
  process.exit(0);
});

async function runScheduled({ scheduled }: { scheduled: number }) {
  try {
    const worker = await miniflare?.getWorker();
    const result = await worker?.scheduled({ cron: "every" });
    report(result?.outcome === "ok" ? { scheduled } : { scheduled, error: `outcome ${result?.outcome}` });
  } catch (error) {
    report({ scheduled, error: (error as Error).message });
  }
}

function report(message: HostMessage) {
  process.send?.(message);
}

function options({ bundle, port, bindings }: HostStart): ConstructorParameters<typeof Miniflare>[0] {
  const { mainModule, compatibilityDate, compatibilityFlags, assets } = bundle;
  const modules = Object.fromEntries(
    bundle.modules.map(({ name, type, contents }) => [name, { type, contents }]),
  );
  const env = Object.fromEntries(
    Object.entries(bindings).map(([name, value]) => [name, { type: "text" as const, value }]),
  );
  return {
    host: "127.0.0.1",
    port,
    // Nothing may be looked up on the internet, reported, or shared with other programs on this machine.
    cf: false,
    telemetry: { enabled: false },
    enableDevRegistry: false,
    log: new NoOpLog(),
    logRequests: false,
    handleStructuredLogs: ({ message }) => console.log(message),
    // A crashed workerd was restarted, but whoever started it wants to know.
    unsafeHandleRuntimeRestart: () => process.exit(1),
    workers: [
      {
        config: {
          name: "fleetgate",
          compatibilityDate,
          compatibilityFlags,
          env: { ...env, ASSETS: { type: "assets" as const } },
          assets: { directory: assets, runWorkerFirst: true, hasUserWorker: true },
          manifest: { mainModule, modules },
        },
      },
    ],
  };
}
