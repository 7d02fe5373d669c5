import type { LimitAnswer, TakeAnswer } from "../../limits/schema.ts";
import { html, setAttributes, setText } from "../dom.ts";
import { count, duration, share } from "../format.ts";
import { fillHead, makeCells, makeTable } from "./table.ts";

/** One key of a limit: the limit's rules, and what a take of one would hear. */
export interface Level {
  limit: string;
  key: string;
  rules: LimitAnswer;
  level: TakeAnswer;
}

const COLUMNS = {
  limit: { title: "Limit" },
  kind: { title: "Kind", kind: "wide" },
  level: { title: "Level", kind: "rest" },
  rate: { title: "Per second", kind: "number wide" },
  next: { title: "Next", kind: "number" },
  drop: { title: "Stop watching", kind: "action" },
} as const;

/** The limits with how much of each is left; those that `isWatched` were named by hand and can be let go. */
export function makeLimitTable(isWatched: (one: Level) => boolean, drop: (one: Level) => void) {
  return makeTable<Level>(
    "Limits",
    COLUMNS,
    ({ limit, key }) => `${limit}/${key}`,
    (one) => {
      const { limit, key } = one;
      const { row, cells } = makeCells(COLUMNS);
      fillHead(cells.limit, limit, key);
      const meter = html("meter", { min: 0, "aria-label": `Left of ${limit}, key ${key}` });
      const figures = html("span");
      cells.level.append(html("div", { class: "level" }, meter, figures));
      const button = html("button", {
        type: "button",
        text: "Remove",
        "aria-label": `Stop watching ${limit}, key ${key}`,
      });
      button.addEventListener("click", () => drop(one));
      cells.drop.append(button);
      return {
        element: row,
        update(shown: Level) {
          const { rules, level } = shown;
          const wait = level.allowed ? level.delay_ms : (level.retry_after_ms ?? 0);
          setText(cells.kind, kindOf(rules));
          setAttributes(meter, { max: rules.capacity, value: level.remaining });
          setText(figures, `${share(level.remaining, rules.capacity)} of ${count(rules.capacity)}`);
          setText(cells.rate, count(level.rate_per_s));
          setText(cells.next, wait > 0 ? `in ${duration(wait)}` : "now");
          setAttributes(button, { hidden: !isWatched(shown) });
        },
      };
    },
  );
}

function kindOf({ algorithm, shadow, adapt }: LimitAnswer): string {
  const more = [adapt && `follows ${adapt.queue}`, shadow && "only watching"].filter(Boolean);
  return [algorithm.replace("_", " "), ...more].join(", ");
}
