import { html, setAttributes } from "./dom.ts";
import { hrefOf, TABS, type Tab } from "./route.ts";

/** The tabs under a fleet: arrow keys move, the address follows, and only the panel in sight is there. */
export function makeTabs(panels: Record<Tab, HTMLElement>) {
  let fleet = "";
  const tabs = TABS.map((name) => {
    const tab = html("a", {
      role: "tab",
      id: `tab-${name}`,
      "aria-controls": `panel-${name}`,
      text: titleOf(name),
    });
    const panel = html(
      "div",
      { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}` },
      panels[name],
    );
    return { name, tab, panel };
  });
  const list = html(
    "div",
    { role: "tablist", "aria-label": "About this fleet" },
    ...tabs.map(({ tab }) => tab),
  );

  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex(({ tab }) => tab === document.activeElement);
    const ends: Record<string, number> = { Home: 0, End: tabs.length - 1 };
    const to = step && at >= 0 ? (at + step + tabs.length) % tabs.length : ends[event.key];
    const wanted = to === undefined ? undefined : tabs[to];
    if (!wanted) return;
    event.preventDefault();
    wanted.tab.focus();
    location.replace(hrefOf(fleet, wanted.name));
  });

  return {
    elements: [list, ...tabs.map(({ panel }) => panel)],
    show(wantedFleet: string, wanted: Tab) {
      fleet = wantedFleet;
      for (const { name, tab, panel } of tabs) {
        const isShown = name === wanted;
        const tabindex = isShown ? 0 : -1;
        setAttributes(tab, { href: hrefOf(fleet, name), "aria-selected": String(isShown), tabindex });
        setAttributes(panel, { hidden: !isShown });
      }
    },
  };
}

const titleOf = (name: Tab) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
