import type { FleetsAnswer } from "../fleets/schema.ts";
import { type Api, CallFailed } from "./api.ts";
import { makeDetail } from "./detail.ts";
import { html } from "./dom.ts";
import { makeOverview } from "./gate/overview.ts";
import { makeHeader } from "./header.ts";
import { startPoll } from "./poll.ts";
import { readRoute } from "./route.ts";
import { wordsOf } from "./words.ts";

/** The page behind the key. `leave` hears when the key is to be forgotten, with the reason when it was refused. */
export function openDashboard(api: Api, leave: (why?: string) => void) {
  const header = makeHeader(() => leave());
  const overview = makeOverview(api);
  const detail = makeDetail({
    api,
    again: () => poll.now(),
    onPreview: (capacity) => overview.preview(capacity),
  });
  const main = html("main", {}, overview.element, detail.element);
  let first: string | undefined;

  async function ask(signal: AbortSignal) {
    const answer = await api.get<FleetsAnswer>("/v1/fleets", signal);
    first = answer.fleets[0]?.fleet;
    const { fleet = first, tab } = readRoute();
    await overview.refresh(answer, fleet, signal);
    follow();
    if (fleet && !overview.isBroken(fleet)) await detail.refresh(fleet, tab, overview.selectedStatus, signal);
  }

  function told(error?: unknown) {
    if (error instanceof CallFailed && error.is("unauthorized")) return leave(wordsOf(error));
    header.told(error);
  }

  /** Shows what the address names, with what is known already. */
  function follow() {
    const { fleet = first, tab } = readRoute();
    overview.select(fleet, tab);
    detail.select(overview.isBroken(fleet) ? undefined : fleet, tab);
    document.title = fleet ? `${fleet} · Fleetgate` : "Fleetgate";
  }

  function turn() {
    follow();
    poll.now();
  }

  const poll = startPoll(ask, told);
  addEventListener("hashchange", turn);
  return {
    elements: [...header.elements, main],
    close() {
      poll.stop();
      header.close();
      removeEventListener("hashchange", turn);
    },
  };
}
