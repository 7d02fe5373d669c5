import { Problem } from "../http/problem.ts";
import { StoreFault, StoreUnavailable } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import { type Configuration, parseText, shardsOf, toText } from "./generations.ts";
import * as scripts from "./scripts.ts";

export interface Configurations {
  /** As stored now. Throws `not-found`. */
  read(filter: string): Promise<Configuration>;
  /** Runs with what this isolate remembers, and again with what is stored where `run` finds that to be another. */
  using<R>(filter: string, run: (configuration: Configuration) => Promise<R | "stale">): Promise<R>;
  /** Replaces the configuration by what `next` makes of it; undefined leaves it, null removes it. */
  change(filter: string, next: (before?: Configuration) => Configuration | null | undefined): Promise<void>;
}

const ATTEMPTS = 4;

/** Filters by name. Memory may be old: every script compares the version before it touches a bit. */
export function makeConfigurations({ store, keys }: Ground): Configurations {
  const memory = new BoundedMap<string, Configuration>(2_000);

  const stored = (filter: string) =>
    store.run(scripts.configuration, { keys: keys.filter(filter), args: {} });

  async function read(filter: string): Promise<Configuration> {
    memory.delete(filter);
    const found = parseText(await stored(filter));
    if (!found) throw new Problem("not-found", `there is no filter ${filter}`);
    memory.set(filter, found);
    return found;
  }

  return {
    read,
    async using(filter, run) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const result = await run((attempt === 0 && memory.get(filter)) || (await read(filter)));
        if (result !== "stale") return result;
      }
      throw new StoreUnavailable(
        "filters: the configuration changes faster than it can be read",
        "no_answer",
      );
    },

    async change(filter, next) {
      const at = keys.filter(filter);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const text = await stored(filter);
        const before = readable(text);
        const after = next(before);
        if (after === undefined) return;
        const kept = new Set(after?.generations.map(({ id }) => id));
        const dropped = before?.generations.filter(({ id }) => !kept.has(id)) ?? [];
        // What stands where the newest begins was left there when a configuration was lost.
        const [newest] = after?.generations ?? [];
        const done = await store.run(scripts.setFilter, {
          keys: at,
          restKeys: shardsOf(at, newest ? [newest, ...dropped] : dropped),
          args: { before: versionOf(text), text: after ? toText(after) : "" },
        });
        memory.delete(filter);
        if (done) return;
      }
      throw new StoreUnavailable(
        "filters: the configuration changes faster than it can be replaced",
        "no_answer",
      );
    },
  };
}

/** As parseText; a record that cannot be read is mended by the one written over it. */
function readable(text: string): Configuration | undefined {
  try {
    return parseText(text);
  } catch (error) {
    if (error instanceof StoreFault) return undefined;
    throw error;
  }
}

/** What the scripts take for the version of a stored text, whatever follows. */
const versionOf = (text: string): string => /^(\S+) /.exec(text)?.[1] ?? "";
