import { expect, it } from "vitest";
import type { BeaterEvents } from "../../src/client/keeper/beater.ts";
import { startThread, workerThreads } from "../../src/client/keeper/thread.ts";
import { until } from "./support/until.ts";

it("a keeper's thread that dies is told once, and can still be stopped", async () => {
  const stopped: unknown[] = [];
  const events: BeaterEvents = {
    lost: () => {},
    directive: () => {},
    replaced: () => {},
    failed: () => {},
    stopped: (error) => stopped.push(error),
  };
  const data = {
    // Nothing can be made of this url, so the thread ends as soon as it starts.
    url: "no url",
    key: "fg_key",
    fleet: "render",
    body: { cluster: "eu", pod: "w-0", instance: "1" },
    start: { state: "ready" as const, timeoutMs: 1_000 },
  };
  const { beater, ready } = startThread(workerThreads(), data, events);
  await expect(ready).rejects.toThrow("Invalid URL");
  await until("it is told", () => stopped.length > 0);
  await beater.stop();
  expect(stopped).toHaveLength(1);
});
