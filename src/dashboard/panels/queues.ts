import type { QueueAnswer } from "../../queues/schema.ts";
import { type Api, CallFailed, path } from "../api.ts";
import { html, setAttributes } from "../dom.ts";
import { rememberedNames } from "../session.ts";
import { wordsOf } from "../words.ts";
import { makeDead } from "./dead.ts";
import { makeNameForm } from "./name-form.ts";
import { makeMessage, type Panel } from "./panel.ts";
import { makeQueueTable } from "./queue-table.ts";

/** As many queues as are asked for in one go. */
const MOST = 24;

/** The queues of a fleet, and the dead letters of the one that is opened. */
export function makeQueues(api: Api, again: () => void): Panel {
  const remembered = rememberedNames("queues");
  let canList = true;
  const message = makeMessage();
  const dead = makeDead(api, again);
  const table = makeQueueTable((queue) => dead.open(queue));
  const none = html("p", {
    class: "none",
    text: "No queue of this fleet is known here. Name one to watch it.",
  });
  const form = makeNameForm("Queue", async (name) => {
    remembered.add(name);
    again();
  });

  async function names(signal: AbortSignal): Promise<string[]> {
    if (!canList) return remembered.read();
    try {
      const { queues } = await api.get<{ queues: { queue: string }[] }>("/v1/queues", signal);
      return [...new Set([...queues.map(({ queue }) => queue), ...remembered.read()])];
    } catch (error) {
      if (!(error instanceof CallFailed) || !error.is("not-found")) throw error;
      canList = false;
      return remembered.read();
    }
  }

  async function read(queue: string, signal: AbortSignal): Promise<QueueAnswer | undefined> {
    try {
      return await api.get<QueueAnswer>(path`/v1/queues/${queue}`, signal);
    } catch (error) {
      if (!(error instanceof CallFailed) || error.isOutage || !error.problem) throw error;
      if (remembered.read().includes(queue)) {
        remembered.drop(queue);
        message.say(error.is("not-found") ? `There is no queue ${queue}.` : wordsOf(error), true);
      }
      return undefined;
    }
  }

  return {
    element: html("div", {}, form, message.element, table.element, none, dead.element),
    async refresh(fleet, _status, signal) {
      const known = (await names(signal)).slice(0, MOST);
      const all = (await Promise.all(known.map((name) => read(name, signal)))).filter(
        (one) => one !== undefined,
      );
      const own = all.filter(({ config }) => config.fleet === fleet);
      for (const { queue, config } of all) {
        if (own.some((one) => one.queue === queue) || !remembered.read().includes(queue)) continue;
        remembered.drop(queue);
        message.say(`The queue ${queue} belongs to the fleet ${config.fleet}; look at it there.`, true);
      }
      table.update(own);
      setAttributes(none, { hidden: own.length > 0 });
      setAttributes(table.element, { hidden: own.length === 0 });
      await dead.refresh(signal);
    },
    reset() {
      table.update([]);
      message.say("");
      dead.close();
    },
  };
}
