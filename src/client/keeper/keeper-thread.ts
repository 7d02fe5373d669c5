/** The keeper's thread in Node: beats for one pod whatever the main thread does. Started by thread.ts. */
import { type MessagePort, workerData } from "node:worker_threads";
import { fleetCalls } from "../fleet-calls.ts";
import { toSettings } from "../options.ts";
import { createTransport } from "../transport.ts";
import { createBeater } from "./beater.ts";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";
import { sendBeats } from "./send-beats.ts";

const data = workerData as ThreadData<MessagePort>;
const tell = (message: FromThread) => data.port.postMessage(message);

const calls = fleetCalls(createTransport(toSettings(data)), data.fleet);
const beater = createBeater(sendBeats(calls, data.body), data.start, {
  lost: (id, reason) => tell({ type: "lost", id, reason }),
  directive: (directive) => tell({ type: "directive", directive }),
  replaced: () => tell({ type: "replaced" }),
  failed: (error, failures) => tell({ type: "failed", message: String(error), failures }),
  stopped: () => {},
});

data.port.on("message", async (message: ToThread) => {
  if (message.type === "hold") beater.hold(message.lease);
  else if (message.type === "drop") beater.drop(message.id);
  else if (message.type === "state") beater.setState(message.state);
  else {
    await beater.stop();
    tell({ type: "stopped" });
  }
});
tell({ type: "ready" });
