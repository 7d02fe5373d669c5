import { linked, unlessAborted } from "./abort.ts";
import { judge, type Outcome } from "./answer.ts";
import { retryDelayMs } from "./backoff.ts";
import { monotonicMs } from "./clock.ts";
import { ProblemError, UnavailableError } from "./errors.ts";
import { type Message, messagesOf } from "./event-stream.ts";
import type { FleetEvent } from "./fleet-event.ts";
import type { Settings } from "./options.ts";
import { sleep } from "./timers.ts";
import { describe, request } from "./try.ts";

/** Where to go on from, what ends it, and how long in a row it may be out of reach (ms; by default without end). */
export interface EventsOptions {
  lastEventId?: string | undefined;
  signal?: AbortSignal | undefined;
  deadlineMs?: number | undefined;
}

type Failed = Omit<Extract<Outcome, { kind: "failed" }>, "kind">;

/** The coordinator says something every 15 to 20 s: a connection that is silent for longer is dead. */
const SILENCE_MS = 30_000;
const RECONNECT_MS = 1_000;

/**
 * What happens to a fleet, as it happens. It comes back by itself when a stream ends or breaks, and tells no event twice.
 * Throws ProblemError for a refusal, UnavailableError after `deadlineMs` out of reach, and the signal's reason.
 */
export async function* follow(
  settings: Settings,
  path: string,
  { lastEventId, signal, deadlineMs = Number.POSITIVE_INFINITY }: EventsOptions = {},
): AsyncGenerator<FleetEvent, void, void> {
  const place: Place = { lastId: lastEventId, told: new Set(), retryMs: RECONNECT_MS, heard: false };
  let failures = 0;
  let heardAt = monotonicMs();
  for (;;) {
    signal?.throwIfAborted();
    place.heard = false;
    const failed = yield* listen(settings, path, place, signal);
    failures = place.heard ? 0 : failures + 1;
    if (place.heard) heardAt = monotonicMs();
    const leftMs = heardAt + deadlineMs - monotonicMs();
    const pauseMs = failures === 0 ? place.retryMs : retryDelayMs(failures, failed.retryAfterMs, leftMs);
    if (pauseMs === undefined) throw new UnavailableError(failures, failed);
    await sleep(pauseMs, signal);
  }
}

/** How far it has come: the last id, and what was told since then, which comes again after a break. */
interface Place {
  lastId: string | undefined;
  told: Set<string>;
  retryMs: number;
  /** Whether this stream has told anything. */
  heard: boolean;
}

/** Tells what one stream has to tell; how it ended. */
async function* listen(
  settings: Settings,
  path: string,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<FleetEvent, Failed, void> {
  const ends = linked(signal);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const bound = (ms: number) => {
    timer = setTimeout(() => ends.abort(new Error(`nothing heard within ${ms} ms`)), ms);
  };
  try {
    bound(settings.timeoutMs);
    const body = await unlessAborted(open(settings, path, place.lastId, ends.signal), ends.signal);
    if ("detail" in body) return body;
    for await (const message of messagesOf(body, ends.signal)) {
      clearTimeout(timer);
      place.heard = true;
      const event = take(message, place);
      if (event !== undefined) yield event;
      bound(SILENCE_MS);
    }
    ends.signal.throwIfAborted();
    return { detail: "the stream ended" };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof ProblemError) throw error;
    return { detail: describe(error, settings.key) };
  } finally {
    clearTimeout(timer);
    ends.unlink();
  }
}

/** The body of a stream, or why there is none; throws ProblemError. */
async function open(
  settings: Settings,
  path: string,
  lastId: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | Failed> {
  const headers = { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) };
  const response = await request(settings, { method: "GET", path }, signal, headers);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (response.ok && isStream && response.body) return response.body;
  const outcome = judge(
    { method: "GET", path, accepts: () => false },
    response.status,
    response.headers,
    await response.text(),
  );
  if (outcome.kind === "refused") throw outcome.error;
  return outcome as Failed;
}

/** Takes a message's id to heart; the event that it tells, unless it was told before. */
function take({ id, event, data, retry }: Message, place: Place): FleetEvent | undefined {
  if (retry !== undefined) place.retryMs = Number(retry);
  const isNew = data !== undefined && !place.told.has(`${event} ${data}`);
  if (id !== undefined) {
    place.lastId = id;
    place.told.clear();
  } else if (data !== undefined) place.told.add(`${event} ${data}`);
  return isNew ? { event, ...JSON.parse(data) } : undefined;
}
