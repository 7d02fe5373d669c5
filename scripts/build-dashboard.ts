import { ASSETS } from "./lib/bundle.ts";
import { buildDashboard } from "./lib/dashboard.ts";

// What [build] in wrangler.toml runs, and scripts/test before the tests.
await buildDashboard(ASSETS);
