/** The tabs under a fleet. */
export const TABS = ["pods", "queues", "limits", "policy"] as const;
export type Tab = (typeof TABS)[number];

/** What the address names: a fleet and a tab, never a key. */
export interface Route {
  fleet: string | undefined;
  tab: Tab;
}

/** Reads `#/fleet/tab`; what is missing or unknown takes its default. */
export function readRoute(): Route {
  const [, fleet = "", tab = ""] = location.hash.split("/");
  return { fleet: decode(fleet), tab: TABS.find((known) => known === tab) ?? "pods" };
}

/** The address of a fleet's tab. */
export const hrefOf = (fleet: string, tab: Tab): string => `#/${encodeURIComponent(fleet)}/${tab}`;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    return undefined;
  }
}
