import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { isBusy } from "../../scripts/lib/ports.ts";
import { startStack } from "../../scripts/lib/stack.ts";
import { until } from "./front.ts";

vi.setConfig({ testTimeout: 60_000 });

const dir = mkdtempSync(join(tmpdir(), "fleetgate-stack-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("a stack serves, runs its cron, outlives a restart of Redis, and ends whole", async () => {
  const onDeath = vi.fn();
  const stack = await startStack({ dir, port: 0, onDeath });
  const status = async () => {
    const answer = await fetch(`${stack.url}/v1/fleets`, {
      headers: { authorization: `Bearer ${stack.key}` },
    });
    await answer.body?.cancel();
    return answer.status;
  };
  expect(await status()).toBe(200);
  await stack.worker.scheduled();

  await stack.redis?.kill();
  await expect(stack.worker.scheduled()).rejects.toThrow("the scheduled handler failed");
  await until(async () => (await status()) === 503);
  await stack.redis?.restart();
  await until(async () => (await status()) === 200);

  await stack.stop();
  const ports = [stack.url, stack.rest?.url ?? "", stack.redis?.url ?? ""].map((url) =>
    Number(new URL(url).port),
  );
  expect(await Promise.all(ports.map((port) => isBusy(port)))).toEqual([false, false, false]);
  expect(onDeath).not.toHaveBeenCalled();
});
