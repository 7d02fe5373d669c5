/** The program of a worker's process: runs tasks as their payloads say, and tells what happens to them. */
import { createClient, type LeaseLostError } from "../../../src/client/index.ts";
import { sleep } from "../../../src/client/timers.ts";
import type { Work, WorkerStart, WorkerTold } from "./worker-process.ts";

const start = JSON.parse(process.argv[2] ?? "") as WorkerStart;
const tell = (told: WorkerTold) => process.send?.(told);
process.on("unhandledRejection", (error) => tell({ event: "unhandled", error: String(error) }));
let running = 0;

const worker = await createClient(start)
  .queue(start.queue)
  .work<Work>(async ({ ms }, { task: { id, delivery }, signal }) => {
    tell({ event: "started", id, delivery, running: ++running });
    signal.addEventListener("abort", () =>
      tell({ event: "lost", id, reason: (signal.reason as LeaseLostError).reason }),
    );
    try {
      await sleep(ms, signal);
      return `${process.pid}`;
    } finally {
      running--;
    }
  }, start.work);
tell({ event: "ready" });
process.channel?.unref();
await worker.done;
tell({ event: "done", counts: worker.counts });
