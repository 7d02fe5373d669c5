// sessionStorage ends with the tab and is sent nowhere, unlike a cookie or a URL.
const PREFIX = "fleetgate.";

/** The key that this tab was given, if any. */
export const readKey = (): string | undefined => sessionStorage.getItem(`${PREFIX}key`) ?? undefined;

/** Keeps the key in this tab, or forgets it. */
export function keepKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(`${PREFIX}key`);
  else sessionStorage.setItem(`${PREFIX}key`, key);
}

/** A list of names that somebody typed here, kept in this tab. */
export function rememberedNames(what: "queues" | "limits") {
  const read = (): string[] => {
    try {
      return JSON.parse(sessionStorage.getItem(PREFIX + what) ?? "[]");
    } catch {
      return [];
    }
  };
  const write = (names: string[]) => sessionStorage.setItem(PREFIX + what, JSON.stringify(names));
  return {
    read,
    add: (name: string) => write([...new Set([...read(), name])]),
    drop: (name: string) => write(read().filter((known) => known !== name)),
  };
}
