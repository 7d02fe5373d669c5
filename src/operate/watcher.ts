import type { Ground } from "../redis/ground.ts";
import { BoundedMap } from "../redis/memory.ts";
import { eventsBetween, type FleetEvent, goneBetween, type Picture, pictureOf } from "./changes.ts";
import * as scripts from "./scripts.ts";

/** What was seen at one moment, and what had happened since the moment before. */
export interface Moment {
  at: number;
  events: FleetEvent[];
}

/** A fleet as it was last seen, and the moments that are remembered of it, the latest last. */
export interface Album {
  picture: Picture;
  moments: readonly Moment[];
}

export interface Watcher {
  /**
   * Looks at a fleet, unless this isolate did in the last 2 s. `last` is what the caller heard last: it is gone on from
   * where so many fleets are watched that the isolate has forgotten this one.
   */
  look(fleet: string, last?: Album): Promise<Album>;
}

/** Nobody looks more often than this, however many listen. */
export const LOOK_MS = 2_000;
/** Above this many pods' slots only full, freed and policy are told. */
const MAX_MEMBERS = 5_000;
const MEMORY_MS = 60_000;
const MAX_MOMENTS = 40;

/** Compares a fleet with what it was when it was last looked at; while nobody looks, nothing is read. */
export function makeWatcher({ store, keys, clock }: Ground): Watcher {
  const albums = new BoundedMap<string, Album>(20);

  return {
    async look(fleet, last) {
      const now = await clock.now();
      const kept = albums.get(fleet);
      const known = kept ?? last;
      const album = known && known.picture.at > now - MEMORY_MS ? known : undefined;
      if (album && album.picture.at > now - LOOK_MS) return album;
      const args = { now, since: album?.picture.at ?? now, limit: MAX_MEMBERS };
      const read = await store.run(scripts.watch, { keys: keys.fleet(fleet), args });
      const picture = pictureOf(fleet, now, read);
      const events = album ? await compare(fleet, album.picture, picture, read[4]) : [];
      // Another stream of this isolate may have looked meanwhile; then its moment stands.
      const latest = albums.get(fleet);
      if (latest && latest !== kept) return latest;
      const moments = [...(album?.moments ?? []), { at: now, events }].slice(-MAX_MOMENTS);
      albums.set(fleet, { picture, moments });
      return { picture, moments };
    },
  };

  async function compare(fleet: string, before: Picture, after: Picture, lapsed: readonly string[]) {
    const gone = goneBetween(before, after);
    const rest = gone.map(({ member }) => member);
    const call = { keys: keys.fleet(fleet), args: {}, rest };
    const fates = gone.length > 0 ? await store.run(scripts.trace, call) : [];
    const ends = gone.map((pod, at) => ({ pod, event: fates[at] ?? "lapsed" }));
    return eventsBetween(before, after, ends, lapsed);
  }
}
