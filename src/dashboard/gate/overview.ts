import type { FleetsAnswer, StatusAnswer } from "../../fleets/schema.ts";
import { type Api, CallFailed, path } from "../api.ts";
import { html, setAttributes } from "../dom.ts";
import { keyedList } from "../keyed.ts";
import { makeBroken } from "../panels/broken.ts";
import type { Tab } from "../route.ts";
import { type CardState, makeCard } from "./card.ts";
import { makeEmpty } from "./empty.ts";
import { pictureOf, pictureOfRow } from "./picture.ts";

type FleetRow = FleetsAnswer["fleets"][number];
interface Known {
  status: StatusAnswer;
  row: string;
  at: number;
}

/** A fleet whose row did not change is asked again after this long. */
const FRESH_MS = 10_000;
/** Statuses asked for in one go, beside that of the fleet looked at. */
const AT_ONCE = 8;

/** All fleets, one card each. Only the fleet looked at and those that changed are asked for details. */
export function makeOverview(api: Api) {
  const list = html("div", { class: "fleets" });
  const empty = makeEmpty();
  const broken = makeBroken("Fleets");
  const show = keyedList<CardState>(list, ({ picture }) => picture.fleet, makeCard);
  const known = new Map<string, Known>();
  let rows: FleetRow[] = [];
  let unreadable = new Set<string>();
  let selected: string | undefined;
  let tab: Tab = "pods";
  let preview: number | undefined;

  function draw() {
    setAttributes(empty, { hidden: rows.length + unreadable.size > 0 });
    show(
      rows.map((row) => {
        const isSelected = row.fleet === selected;
        const latest = known.get(row.fleet);
        const isCurrent = latest && (isSelected || latest.row === signature(row));
        const picture = isCurrent ? pictureOf(latest.status) : pictureOfRow(row);
        return { picture, isSelected, tab, preview: isSelected ? preview : undefined };
      }),
    );
  }

  async function ask(row: FleetRow, signal: AbortSignal) {
    const status = await api.get<StatusAnswer>(`${path`/v1/fleets/${row.fleet}`}?held=true`, signal);
    known.set(row.fleet, { status, row: signature(row), at: performance.now() });
  }

  return {
    element: html("section", { "aria-label": "Fleets" }, empty, list, broken.element),
    get selectedStatus(): StatusAnswer | undefined {
      return selected === undefined ? undefined : known.get(selected)?.status;
    },

    /** Whether a fleet's records were broken when it was last asked about; it is then told in a line of its own. */
    isBroken: (fleet: string | undefined) => fleet !== undefined && unreadable.has(fleet),

    async refresh(answer: FleetsAnswer, wanted: string | undefined, signal: AbortSignal) {
      unreadable = new Set(answer.broken?.map(({ name }) => name));
      broken.update(answer.broken);
      const listed = answer.fleets;
      const isTold = wanted && (unreadable.has(wanted) || listed.some(({ fleet }) => fleet === wanted));
      const all = wanted && !isTold ? [...listed, { fleet: wanted, live: 0, busy: 0, capacity: 1 }] : listed;
      const askedAt = ({ fleet }: FleetRow) => known.get(fleet)?.at ?? Number.NEGATIVE_INFINITY;
      // Those that have waited longest come first, or the first by name would take every turn.
      const due = all
        .filter((row) => row.fleet !== wanted && isDue(row, known.get(row.fleet)))
        .sort((one, other) => (askedAt(one) < askedAt(other) ? -1 : 1));
      const asked = [...all.filter(({ fleet }) => fleet === wanted), ...due.slice(0, AT_ONCE)];
      await Promise.all(asked.map((row) => ask(row, signal).catch(leaveOut)));
      rows = all;
      selected = wanted;
      draw();
    },

    /** Follows the address at once, with what is known. */
    select(wanted: string | undefined, wantedTab: Tab) {
      if (wanted) selected = wanted;
      tab = wantedTab;
      draw();
    },

    preview(capacity: number | undefined) {
      if (preview === capacity) return;
      preview = capacity;
      draw();
    },
  };
}

const signature = ({ live, busy, capacity }: FleetRow) => `${live}/${busy}/${capacity}`;

const isDue = (row: FleetRow, known: Known | undefined) =>
  !known || known.row !== signature(row) || performance.now() - known.at > FRESH_MS;

/** A fleet whose status cannot be read is still shown by its row; an outage concerns the whole page. */
function leaveOut(error: unknown) {
  if (!(error instanceof CallFailed) || error.isOutage || error.is("unauthorized")) throw error;
}
