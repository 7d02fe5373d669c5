import type { LimitAnswer, TakeAnswer } from "../../limits/schema.ts";
import { type Api, CallFailed, path } from "../api.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { count, duration } from "../format.ts";
import { rememberedNames } from "../session.ts";
import { wordsOf } from "../words.ts";
import { makeNameForm } from "./name-form.ts";
import { makeMessage, type Panel } from "./panel.ts";
import { fillHead, makeCells, makeTable } from "./table.ts";

interface Watched {
  limit: string;
  key: string;
  rules: LimitAnswer;
  level: TakeAnswer;
}

const COLUMNS = {
  limit: { title: "Limit" },
  kind: { title: "Kind", kind: "wide" },
  level: { title: "Level" },
  rate: { title: "Per second", kind: "number" },
  next: { title: "Next", kind: "number" },
  drop: { title: "Stop watching", kind: "action" },
} as const;

/** Limits that somebody named here, with how much of each is left. */
export function makeLimits(api: Api, again: () => void): Panel {
  const remembered = rememberedNames("limits");
  const message = makeMessage();
  const key = html("input", {
    id: "watch-limit-key",
    value: "default",
    maxlength: 1_024,
    autocomplete: "off",
  });
  const form = makeNameForm(
    "Limit",
    async (name) => {
      const wanted = key.value || "default";
      await read(JSON.stringify([name, wanted]));
      message.say("");
      remembered.add(JSON.stringify([name, wanted]));
      again();
    },
    html("label", { for: "watch-limit-key", text: "Key" }),
    key,
  );
  const none = html("p", { class: "none", text: "Name a limit, and the key in it, to see its level." });
  const table = makeTable<Watched>("Limits", COLUMNS, ({ limit, key }) => `${limit}/${key}`, makeLimit);

  async function read(name: string, signal?: AbortSignal): Promise<Watched> {
    const [limit, key] = JSON.parse(name) as [string, string];
    const [rules, level] = await Promise.all([
      api.get<LimitAnswer>(path`/v1/limits/${limit}`, signal),
      api.get<TakeAnswer>(path`/v1/limits/${limit}/keys/${key}`, signal),
    ]);
    return { limit, key, rules, level };
  }

  function makeLimit({ limit, key }: Watched) {
    const { row, cells } = makeCells(COLUMNS);
    fillHead(cells.limit, limit, key);
    const meter = html("meter", { min: 0, "aria-label": `Left of ${limit}, key ${key}` });
    const figures = html("span");
    cells.level.append(meter, " ", figures);
    const drop = html("button", {
      type: "button",
      text: "Remove",
      "aria-label": `Stop watching ${limit}, key ${key}`,
    });
    drop.addEventListener("click", () => {
      remembered.drop(JSON.stringify([limit, key]));
      again();
    });
    cells.drop.append(drop);
    return {
      element: row,
      update({ rules, level }: Watched) {
        setText(cells.kind, rules.algorithm.replace("_", " ") + (rules.shadow ? ", only watching" : ""));
        setAttributes(meter, { max: rules.capacity, value: level.remaining });
        setText(figures, `${count(level.remaining)} of ${count(rules.capacity)}`);
        setText(cells.rate, count(level.rate_per_s));
        setText(cells.next, level.allowed ? "now" : `in ${duration(level.retry_after_ms ?? 0)}`);
      },
    };
  }

  return {
    element: html("div", {}, form, message.element, table.element, none),
    async refresh(_fleet, _status, signal) {
      const all = await Promise.all(
        remembered.read().map((name) =>
          read(name, signal).catch((error: unknown) => {
            if (!(error instanceof CallFailed) || error.isOutage) throw error;
            remembered.drop(name);
            message.say(wordsOf(error), true);
            return undefined;
          }),
        ),
      );
      const shown = all.filter((one) => one !== undefined);
      table.update(shown);
      setAttributes(none, { hidden: shown.length > 0 });
      setAttributes(table.element, { hidden: shown.length === 0 });
    },
    reset() {
      message.say("");
    },
  };
}
