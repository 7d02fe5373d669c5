import type { LimitAnswer, LimitsAnswer, TakeAnswer } from "../../limits/schema.ts";
import { type Api, CallFailed, path } from "../api.ts";
import { html, setAttributes } from "../dom.ts";
import { rememberedNames } from "../session.ts";
import { wordsOf } from "../words.ts";
import { makeBroken } from "./broken.ts";
import { type Level, makeLimitTable } from "./limit-table.ts";
import { makeNameForm } from "./name-form.ts";
import { makeMessage, type Panel } from "./panel.ts";

const DEFAULT_KEY = "default";

const nameOf = ({ limit, key }: Pick<Level, "limit" | "key">) => JSON.stringify([limit, key]);
const byName = (one: Level, other: Level) => (one.limit < other.limit ? -1 : one.limit > other.limit ? 1 : 0);

/** Every limit with how much of it is left, and of the keys that this fleet takes from or that were named here. */
export function makeLimits(api: Api, again: () => void): Panel {
  const remembered = rememberedNames("limits");
  const message = makeMessage();
  const key = html("input", {
    id: "watch-limit-key",
    value: DEFAULT_KEY,
    maxlength: 1_024,
    autocomplete: "off",
  });
  const form = makeNameForm(
    "Limit",
    async (limit) => {
      const wanted = nameOf({ limit, key: key.value || DEFAULT_KEY });
      await read(wanted);
      message.say("");
      remembered.add(wanted);
      again();
    },
    html("span", { class: "pair" }, html("label", { for: "watch-limit-key", text: "Key" }), key),
  );
  const none = html("p", {
    class: "none",
    hidden: true,
    text: "No limit was heard of in the last 24 hours. A silent one, or another key, can be named above.",
  });
  const broken = makeBroken("Limits");
  const table = makeLimitTable(
    (one) => remembered.read().includes(nameOf(one)),
    (one) => {
      remembered.drop(nameOf(one));
      again();
    },
  );

  async function read(name: string, signal?: AbortSignal): Promise<Level> {
    const [limit, key] = JSON.parse(name) as [string, string];
    const [rules, level] = await Promise.all([
      api.get<LimitAnswer>(path`/v1/limits/${limit}`, signal),
      api.get<TakeAnswer>(path`/v1/limits/${limit}/keys/${key}`, signal),
    ]);
    return { limit, key, rules, level };
  }

  /** One that is not in the list; it may be gone meanwhile. */
  async function named(name: string, signal: AbortSignal): Promise<Level[]> {
    try {
      return [await read(name, signal)];
    } catch (error) {
      if (!(error instanceof CallFailed) || error.isOutage) throw error;
      remembered.drop(name);
      message.say(wordsOf(error), true);
      return [];
    }
  }

  return {
    element: html("div", {}, form, message.element, broken.element, table.element, none),
    async refresh(fleet, status, signal) {
      const answer = await api.get<LimitsAnswer>("/v1/limits", signal);
      const listed = answer.limits.map(({ limit, config, ...level }): Level => {
        return { limit, key: DEFAULT_KEY, rules: config, level };
      });
      const own = status?.policy.limit;
      const wanted = [...(own ? [nameOf({ limit: own, key: fleet })] : []), ...remembered.read()];
      const known = new Set(listed.map(nameOf));
      const rest = [...new Set(wanted)].filter((name) => !known.has(name));
      const others = await Promise.all(rest.map((name) => named(name, signal)));
      const all = [...listed, ...others.flat()].sort(byName);
      broken.update(answer.broken);
      table.update(all);
      setAttributes(none, { hidden: all.length > 0 });
      setAttributes(table.element, { hidden: all.length === 0 });
    },
    reset() {
      message.say("");
    },
  };
}
