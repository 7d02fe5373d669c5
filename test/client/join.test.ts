import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createClient, type JoinOptions, UnavailableError } from "../../src/client/index.ts";
import { type FakeCoordinator, problem, startFakeCoordinator } from "./support/fake-coordinator.ts";
import { type Seen, unavailable } from "./support/faulty-server.ts";
import { KEY } from "./support/joined.ts";
import type { PodStart, Told } from "./support/pod-process.ts";
import { until } from "./support/until.ts";

const isBeat = ({ path }: Seen) => path.endsWith("/heartbeat");

/** Joins in vain, and gives what was thrown. */
async function joinInVain(coordinator: FakeCoordinator, options: Partial<JoinOptions>): Promise<unknown> {
  const fleet = createClient({ url: coordinator.url, key: KEY, timeoutMs: 1_000 }).fleet("render");
  const who = { cluster: "eu", pod: "w-0", instance: "1", handleSignals: false, unavailableAfterMs: 400 };
  return fleet.join({ ...who, ...options }).then(
    (pod) => pod,
    (thrown: unknown) => thrown,
  );
}

/** The calls that were begun, in order. */
const called = ({ seen }: FakeCoordinator) => seen.map(({ path }) => path.split("/").at(-1));

describe.concurrent("a join that ends without a pod", () => {
  it("leaves again when its signal fires while the first beat is under way, after hearing that to its end", async () => {
    const ends = new AbortController();
    let heard = false;
    await using coordinator = await startFakeCoordinator({
      afterwards: async (seen) => {
        if (!isBeat(seen)) return;
        ends.abort(new Error("changed my mind"));
        await new Promise((resolve) => setTimeout(resolve, 200));
        heard = called(coordinator).length === 1;
      },
    });
    const error = await joinInVain(coordinator, { signal: ends.signal });
    expect(error).toEqual(new Error("changed my mind"));
    expect(called(coordinator)).toEqual(["heartbeat", "leave"]);
    expect(coordinator.calls("leave")[0]?.body).toEqual({ cluster: "eu", pod: "w-0", instance: "1" });
    expect(heard).toBe(true);
  });

  it("sends nothing when its signal has fired before", async () => {
    await using coordinator = await startFakeCoordinator();
    const signal = AbortSignal.abort(new Error("no"));
    expect(await joinInVain(coordinator, { signal })).toEqual(new Error("no"));
    expect(coordinator.seen).toEqual([]);
  });

  it("leaves again when it is closed and its beats were counted, but no answer came", async () => {
    await using coordinator = await startFakeCoordinator({
      afterwards: (seen) => (isBeat(seen) ? { fault: "reset" } : undefined),
    });
    expect(await joinInVain(coordinator, { onUnavailable: "closed" })).toBeInstanceOf(UnavailableError);
    expect(called(coordinator).at(-1)).toBe("leave");
  });

  it("is over in bounded time when the coordinator hangs", async () => {
    await using coordinator = await startFakeCoordinator({ instead: () => ({ fault: "hang" }) });
    const start = performance.now();
    const signal = AbortSignal.timeout(200);
    expect(await joinInVain(coordinator, { signal, unavailableAfterMs: 60_000 })).toMatchObject({
      name: "TimeoutError",
    });
    expect(performance.now() - start).toBeLessThan(4_000);
  });

  it("sends nothing more when it was refused", async () => {
    await using coordinator = await startFakeCoordinator({ instead: () => problem(401, "unauthorized") });
    await joinInVain(coordinator, {});
    expect(called(coordinator)).toEqual(["heartbeat"]);
  });

  it("leaves again when its thread cannot start, and when its signal fires while that starts", async () => {
    await using coordinator = await startFakeCoordinator();
    const labels = { gpu: () => {} } as never;
    expect(await joinInVain(coordinator, { thread: true, labels })).toMatchObject({ name: "DataCloneError" });
    expect(called(coordinator)).toEqual(["heartbeat", "leave"]);
    const ends = new AbortController();
    coordinator.behaviour.afterwards = async (seen) => {
      if (isBeat(seen)) setTimeout(() => ends.abort(new Error("changed my mind")), 15);
      return undefined;
    };
    expect(await joinInVain(coordinator, { thread: true, signal: ends.signal })).toEqual(
      new Error("changed my mind"),
    );
    expect(called(coordinator).at(-1)).toBe("leave");
  });
});

/** A process that joins, and gets SIGTERM once its first beat has come. */
async function terminated(coordinator: FakeCoordinator, join: Partial<JoinOptions>) {
  const program = fileURLToPath(new URL("./support/pod-program.ts", import.meta.url));
  const who = { cluster: "eu", pod: "w-0", ...join };
  const start: PodStart = { url: coordinator.url, key: KEY, fleet: "render", join: who as PodStart["join"] };
  const child = fork(program, [JSON.stringify(start)], {
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const told: Told[] = [];
  child.on("message", (message) => told.push(message as Told));
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  await until("it has beaten", () => coordinator.seen.some(isBeat), 20_000);
  child.kill("SIGTERM");
  return { child, told, ended };
}

describe.concurrent("SIGTERM while a pod joins", { timeout: 30_000 }, () => {
  const slowly = async (seen: Seen) => {
    if (isBeat(seen)) await new Promise((resolve) => setTimeout(resolve, 500));
    return undefined;
  };

  it.each([false, true])(
    "drains it and leaves, as if it had come right after (thread: %s)",
    async (thread) => {
      await using coordinator = await startFakeCoordinator({ afterwards: slowly });
      const { child, told, ended } = await terminated(coordinator, { thread });
      await until("it has left", () => coordinator.calls("leave").length === 1);
      await until("it has joined", () => told.some(({ event }) => event === "joined"));
      child.send({ do: "let-go" });
      expect(await ended).toBe(0);
    },
  );

  it("ends the process when asked to", async () => {
    await using coordinator = await startFakeCoordinator({ afterwards: slowly });
    const { ended } = await terminated(coordinator, { exitAfterLeave: true });
    expect(await ended).toBe(0);
    expect(called(coordinator)).toContain("leave");
  });

  it("ends the process as if nobody had listened when joining fails", async () => {
    await using coordinator = await startFakeCoordinator({
      instead: async (seen) => (await slowly(seen)) ?? unavailable(),
    });
    const { ended } = await terminated(coordinator, { onUnavailable: "closed", unavailableAfterMs: 800 });
    expect(await ended).toBe("SIGTERM");
  });
});
