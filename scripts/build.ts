import { ASSETS } from "./lib/bundle.ts";
import { buildDashboard } from "./lib/dashboard.ts";
import { copyWorkerSource } from "./lib/worker-source.ts";

// What [build] in wrangler.toml runs, and scripts/test before the tests.
copyWorkerSource();
await buildDashboard(ASSETS);
