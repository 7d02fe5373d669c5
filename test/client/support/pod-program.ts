/** The program of a pod's process: does as it is told over its channel. */
import {
  createClient,
  type Lease,
  type LeaseLostError,
  type PodClosedError,
} from "../../../src/client/index.ts";
import { sleep } from "../../../src/client/timers.ts";
import type { Order, PodStart, Told } from "./pod-process.ts";

const start = JSON.parse(process.argv[2] ?? "") as PodStart;
const tell = (told: Told) => process.send?.(told);
process.on("unhandledRejection", (error) => tell({ event: "unhandled", error: String(error) }));

const pod = await createClient(start).fleet(start.fleet).join(start.join);
pod.closing.addEventListener("abort", () =>
  tell({ event: "closing", reason: (pod.closing.reason as PodClosedError).reason }),
);
let lease: Lease | undefined;

process.on("message", async (order: Order) => {
  if (order.do === "acquire") {
    const granted = await pod.acquire(order.options);
    lease = granted;
    granted.signal.addEventListener("abort", () =>
      tell({ event: "lost", reason: (granted.signal.reason as LeaseLostError).reason }),
    );
    tell({ event: "granted", id: granted.id });
  } else if (order.do === "release") {
    tell({ event: "released", outcome: (await lease?.release()) ?? "none" });
  } else if (order.do === "block") {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.ms);
    tell({ event: "unblocked", lost: lease?.lost ?? true });
  } else if (order.do === "work") {
    await sleep(order.ms, lease?.signal).catch(() => {});
    tell({ event: "released", outcome: (await lease?.release()) ?? "none" });
  } else {
    process.channel?.unref();
  }
});
tell({ event: "joined" });
