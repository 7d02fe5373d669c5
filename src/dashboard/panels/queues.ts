import type { QueueAnswer, QueuesAnswer } from "../../queues/schema.ts";
import { type Api, CallFailed, path } from "../api.ts";
import { html, setAttributes } from "../dom.ts";
import { rememberedNames } from "../session.ts";
import { wordsOf } from "../words.ts";
import { makeBroken } from "./broken.ts";
import { makeDead } from "./dead.ts";
import { makeNameForm } from "./name-form.ts";
import { makeMessage, type Panel } from "./panel.ts";
import { makeQueueTable } from "./queue-table.ts";

/** The queues of a fleet, and the dead letters of the one that is opened. */
export function makeQueues(api: Api, again: () => void): Panel {
  const remembered = rememberedNames("queues");
  const message = makeMessage();
  const dead = makeDead(api, again);
  const broken = makeBroken("Queues");
  const table = makeQueueTable((queue) => dead.open(queue));
  const none = html("p", {
    class: "none",
    hidden: true,
    text: "No queue of this fleet was heard of in the last 24 hours. A silent one can be named above.",
  });
  let wanted = "";
  const form = makeNameForm("Queue", async (name) => {
    const { config } = await api.get<QueueAnswer>(path`/v1/queues/${name}`);
    message.say(config.fleet === wanted ? "" : `The queue ${name} belongs to the fleet ${config.fleet}.`);
    if (config.fleet === wanted) remembered.add(name);
    again();
  });

  /** One that was named by hand; it may be gone meanwhile, or be another fleet's. */
  async function named(queue: string, signal: AbortSignal): Promise<QueueAnswer[]> {
    try {
      const answer = await api.get<QueueAnswer>(path`/v1/queues/${queue}`, signal);
      return answer.config.fleet === wanted ? [answer] : [];
    } catch (error) {
      if (!(error instanceof CallFailed) || error.isOutage) throw error;
      remembered.drop(queue);
      message.say(wordsOf(error), true);
      return [];
    }
  }

  return {
    element: html("div", {}, form, message.element, broken.element, table.element, none, dead.element),
    async refresh(fleet, _status, signal) {
      wanted = fleet;
      const answer = await api.get<QueuesAnswer>(`/v1/queues?fleet=${encodeURIComponent(fleet)}`, signal);
      const { queues } = answer;
      const rest = remembered.read().filter((name) => !queues.some(({ queue }) => queue === name));
      const silent = await Promise.all(rest.map((name) => named(name, signal)));
      const all = [...queues, ...silent.flat()];
      broken.update(answer.broken);
      table.update(all);
      setAttributes(none, { hidden: all.length > 0 });
      setAttributes(table.element, { hidden: all.length === 0 });
      await dead.refresh(signal);
    },
    reset() {
      table.update([]);
      setAttributes(none, { hidden: true });
      message.say("");
      dead.close();
    },
  };
}
