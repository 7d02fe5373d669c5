import type { Ground } from "../redis/ground.ts";
import { type FleetEvent, snapshotOf } from "./changes.ts";
import { type Album, LOOK_MS, type Moment, makeWatcher } from "./watcher.ts";

/**
 * A stream looks at most 20 times, so that with its second trips, its configuration and the clock it stays under the 50
 * subrequests that Workers' free plan gives a request; then it ends, and the client comes back with Last-Event-ID.
 */
const MAX_LOOKS = 20;
/** While nothing happens the pause grows to this, so that an open dashboard costs less. */
const MAX_PAUSE_MS = 5_000;
const QUIET_MS = 15_000;
const RECONNECT_MS = 1_000;

/** Makes the streams of server-sent events of fleets. */
export function makeEvents(ground: Ground) {
  const { clock } = ground;
  const watcher = makeWatcher(ground);

  /**
   * Opens a stream; with the id of the last event heard it goes on from there where this isolate still remembers it, and
   * begins with a snapshot otherwise. Throws StoreUnavailable when the fleet cannot be read now.
   */
  return async function open(
    fleet: string,
    lastId: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadableStream> {
    let album = await watcher.look(fleet);
    const first = newsSince(album, Number(lastId));
    let opening: string | undefined = `retry: ${RECONNECT_MS}\n\n${first.map(momentText).join("")}`;
    let looks = 1;
    let pause = LOOK_MS;
    let spoke = clock.local();

    /** The next text to send; undefined when the stream is over. */
    async function next(): Promise<string | undefined> {
      while (looks < MAX_LOOKS && !signal.aborted) {
        await clock.sleep(pause, signal);
        if (signal.aborted) break;
        looks += 1;
        const heard = album.picture.at;
        album = await watcher.look(fleet, album);
        const news = newsSince(album, heard);
        pause = news.length > 0 ? LOOK_MS : Math.min(MAX_PAUSE_MS, pause * 1.5);
        if (news.length > 0) return news.map(momentText).join("");
        if (clock.local() - spoke >= QUIET_MS) return quietText(album);
      }
      return undefined;
    }

    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const text = opening ?? (await next().catch(() => undefined));
          opening = undefined;
          spoke = clock.local();
          if (text !== undefined) return controller.enqueue(encoder.encode(text));
          if (!signal.aborted) controller.enqueue(encoder.encode(quietText(album)));
          controller.close();
        },
        cancel() {
          looks = MAX_LOOKS;
        },
      },
      { highWaterMark: 0 },
    );
  };
}

/** What to tell who heard of this moment last; where it is not remembered, how the fleet is now. */
function newsSince({ picture, moments }: Album, heard: number): Moment[] {
  if (moments.some(({ at }) => at === heard)) {
    return moments.filter(({ at, events }) => at > heard && events.length > 0);
  }
  return [{ at: picture.at, events: [snapshotOf(picture)] }];
}

/** The events of a moment; the id stands on the last one, so that a client cut off between hears them all again. */
function momentText({ at, events }: Moment): string {
  return events.map((one, place) => eventText(one, at, place === events.length - 1)).join("");
}

function eventText({ event, data }: FleetEvent, at: number, last: boolean): string {
  const id = last ? `id: ${at}\n` : "";
  return `${id}event: ${event}\ndata: ${JSON.stringify({ at, ...data })}\n\n`;
}

/** Moves the last id on without an event, as the standard has it, and keeps connections open. */
const quietText = ({ picture }: Album) => `: quiet\nid: ${picture.at}\n\n`;
