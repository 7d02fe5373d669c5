import { afterEach, expect, it, vi } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { startFakeCoordinator } from "./support/fake-coordinator.ts";
import { KEY } from "./support/joined.ts";
import { until } from "./support/until.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const listeners = () => process.listeners("SIGTERM") as (() => void)[];

it("all pods of a process share one listener to SIGTERM, and it exits when the last of them has left", async () => {
  const exit = vi.spyOn(process, "exit").mockImplementation((() => {}) as never);
  await using coordinator = await startFakeCoordinator({ capacity: 1 });
  const fleet = createClient({ url: coordinator.url, key: KEY }).fleet("render");
  const before = listeners();
  const pods = await Promise.all(
    Array.from({ length: 12 }, (_, n) => fleet.join({ cluster: "eu", pod: `w-${n}`, exitAfterLeave: n > 0 })),
  );
  const added = listeners().filter((one) => !before.includes(one));
  expect(added).toHaveLength(1);
  const lease = await pods[0]?.acquire();

  added[0]?.();
  await until("the idle ones have left", () => coordinator.calls("leave").length === 11);
  expect(pods[0]?.state).toBe("draining");
  expect(exit).not.toHaveBeenCalled();
  expect(lease?.lost).toBe(false);
  await lease?.release();
  await until("it exits", () => exit.mock.calls.length > 0);
  expect(exit.mock.calls).toEqual([[0]]);
  expect(coordinator.calls("leave")).toHaveLength(12);
  expect(listeners()).toEqual(before);
});
