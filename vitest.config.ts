import { createHash } from "node:crypto";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

// These are the bindings of the Worker as its tests see it; a test that builds its own app needs none of them.
const worker = cloudflareTest(({ inject }) => {
  const sha256 = createHash("sha256").update(inject("adminKey")).digest("hex");
  return {
    // The source itself: the copy that is uploaded may be older.
    main: "./src/worker.ts",
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      bindings: {
        UPSTASH_REDIS_REST_URL: inject("restUrl"),
        UPSTASH_REDIS_REST_TOKEN: inject("restToken"),
        FLEETGATE_KEYS: JSON.stringify([{ id: "test", sha256, scopes: ["admin"] }]),
      },
    },
  };
});

export default defineConfig({
  test: {
    globalSetup: "test/support/global-setup.ts",
    passWithNoTests: false,
    // One file after the other: real processes with real clocks would take each other's time on a small machine.
    fileParallelism: false,
    retry: 0,
    // Only for what hangs: machines may be slow and busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        plugins: [worker],
        test: {
          name: "worker",
          include: ["test/{lua,http,property,worker}/**/*.test.ts"],
          // A workerd for each file would cost most of the run; files are kept apart by their key prefixes.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "node",
          environment: "node",
          include: ["test/{client,scripts,node}/**/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          environment: "node",
          include: ["test/browser/**/*.test.ts"],
          testTimeout: 30_000,
          hookTimeout: 90_000,
        },
      },
    ],
  },
});
