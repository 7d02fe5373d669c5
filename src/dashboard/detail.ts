import type { StatusAnswer } from "../fleets/schema.ts";
import type { FleetHistory } from "../operate/schema.ts";
import { type Api, CallFailed, path } from "./api.ts";
import { makeChart, type Span } from "./chart/chart.ts";
import { makeSeen } from "./chart/series.ts";
import { now } from "./clock.ts";
import { html, setAttributes } from "./dom.ts";
import { makeLimits } from "./panels/limits.ts";
import type { Panel } from "./panels/panel.ts";
import { makePods } from "./panels/pods.ts";
import { makePolicy } from "./panels/policy.ts";
import { makeQueues } from "./panels/queues.ts";
import type { Tab } from "./route.ts";
import { makeTabs } from "./tabs.ts";

/** The coordinator takes a sample a minute. */
const HISTORY_MS = 30_000;

interface DetailOptions {
  api: Api;
  again: () => void;
  onPreview: (capacity: number | undefined) => void;
}

/** What is shown of the fleet looked at: its history, pods, queues, limits and policy. */
export function makeDetail({ api, again, onPreview }: DetailOptions) {
  const seen = makeSeen();
  const panels: Record<Tab, Panel> = {
    pods: makePods(api, again),
    queues: makeQueues(api, again),
    limits: makeLimits(api, again),
    policy: makePolicy(api, onPreview, again),
  };
  const elements = Object.fromEntries(Object.entries(panels).map(([name, { element }]) => [name, element]));
  const tabs = makeTabs(elements as Record<Tab, HTMLElement>);
  const chart = makeChart(() => {
    asked = Number.NEGATIVE_INFINITY;
    again();
  });
  const element = html("section", { class: "detail", hidden: true }, chart.element, ...tabs.elements);
  let fleet: string | undefined;
  let history: FleetHistory | undefined;
  let asked = Number.NEGATIVE_INFINITY;

  async function readHistory(wanted: string, span: Span, signal: AbortSignal) {
    if (performance.now() - asked < HISTORY_MS) return;
    try {
      const url = `${path`/v1/fleets/${wanted}/history`}?span=${span}`;
      history = await api.get<FleetHistory>(url, signal);
      asked = performance.now();
    } catch (error) {
      // The chart then shows what the page itself has seen.
      if (!(error instanceof CallFailed) || error.isOutage) throw error;
    }
  }

  return {
    element,
    select(wanted: string | undefined, tab: Tab) {
      setAttributes(element, { hidden: wanted === undefined });
      if (wanted === undefined) return;
      if (wanted !== fleet) {
        for (const panel of Object.values(panels)) panel.reset();
        history = undefined;
        asked = Number.NEGATIVE_INFINITY;
        chart.update(wanted, undefined, seen.of(wanted));
      }
      fleet = wanted;
      tabs.show(wanted, tab);
    },

    async refresh(wanted: string, tab: Tab, status: StatusAnswer | undefined, signal: AbortSignal) {
      if (status) seen.add(status, now());
      await Promise.all([
        readHistory(wanted, chart.span, signal),
        panels[tab].refresh(wanted, status, signal),
      ]);
      chart.update(wanted, history, seen.of(wanted));
    },
  };
}
