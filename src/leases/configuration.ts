import * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import { DEFAULT_POLICY, type Policy, policyBody } from "./policy.ts";
import * as scripts from "./scripts.ts";

/** What an isolate keeps of a fleet for 5 s. */
export interface Configuration {
  policy: Policy;
  /** Whether a class ever had another share, so that waiting tasks may stand in an order of other days. */
  mixed: boolean;
  /** Who is to drain: cluster/pod, either side empty for any. */
  drains: Set<string>;
}

export interface DrainEntry {
  cluster?: string | undefined;
  pod?: string | undefined;
}

export interface Configurations {
  of(fleet: string): Promise<Configuration>;
  /** As `of`, asked afresh. */
  read(fleet: string): Promise<Configuration>;
  replace(fleet: string, policy: Policy): Promise<void>;
  /** Throws `invalid-request` when 1,000 entries stand already. */
  drain(fleet: string, entry: DrainEntry, on: boolean): Promise<DrainEntry[]>;
}

const MEMORY_MS = 5_000;
const DRAIN_MS = 86_400_000;
const MAX_DRAINS = 1_000;

const stored = z.object({ policy: policyBody, mixed: z.boolean() });

export function makeConfigurations({ store, keys, clock }: Ground): Configurations {
  const memory = new BoundedMap<string, { value: Configuration; until: number }>(2_000);

  async function read(fleet: string): Promise<Configuration> {
    const asked = clock.local();
    const now = await clock.now();
    const [text, drains] = await store.run(scripts.configuration, { keys: keys.fleet(fleet), args: { now } });
    const value = { ...parseStored(fleet, text), drains: new Set(drains) };
    memory.set(fleet, { value, until: asked + MEMORY_MS });
    return value;
  }

  return {
    read,
    async of(fleet) {
      const known = memory.get(fleet);
      return known && clock.local() < known.until ? known.value : read(fleet);
    },

    async replace(fleet, policy) {
      const before = await read(fleet).catch((error: unknown) => {
        // A record that cannot be read is mended by the one written over it.
        if (error instanceof StoreFault) return undefined;
        throw error;
      });
      const mixed = before === undefined || before.mixed || !sameClasses(before.policy, policy);
      const text = JSON.stringify({ policy, mixed });
      await store.run(scripts.setPolicy, { keys: keys.fleet(fleet), args: { text } });
      memory.delete(fleet);
    },

    async drain(fleet, entry, on) {
      const now = await clock.now();
      const args = { now, entry: drainText(entry), expires_at: on ? now + DRAIN_MS : 0, limit: MAX_DRAINS };
      const [set, entries] = await store.run(scripts.drain, { keys: keys.fleet(fleet), args });
      if (!set) throw Problem.field("drain", `already has ${MAX_DRAINS} entries; take some back first`);
      memory.delete(fleet);
      return entries.map(drainEntry);
    },
  };
}

/** Whether this pod is told to drain, by name, by cluster, or with its whole fleet. */
export function isDraining({ drains }: Configuration, cluster: string, pod: string): boolean {
  return [`${cluster}/${pod}`, `${cluster}/`, `/${pod}`, "/"].some((entry) => drains.has(entry));
}

/** The drain list in the words of the wire. */
export const drainEntries = ({ drains }: Configuration): DrainEntry[] => [...drains].map(drainEntry);

/** The policy in a fleet's stored text; the default for an empty one. Throws StoreFault when it cannot be read. */
export const policyOf = (fleet: string, text: string): Policy => parseStored(fleet, text).policy;

function parseStored(fleet: string, text: string): Omit<Configuration, "drains"> {
  if (text === "") return { policy: DEFAULT_POLICY, mixed: false };
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    throw new StoreFault(`the stored policy of the fleet ${fleet} cannot be read; PUT it again`);
  }
}

function sameClasses(one: Policy, other: Policy): boolean {
  const shares = ({ classes }: Policy) => JSON.stringify(Object.entries(classes).sort());
  return shares(one) === shares(other);
}

const drainText = ({ cluster = "", pod = "" }: DrainEntry) => `${cluster}/${pod}`;

function drainEntry(text: string): DrainEntry {
  const [cluster, pod] = text.split("/");
  return { ...(cluster ? { cluster } : {}), ...(pod ? { pod } : {}) };
}
