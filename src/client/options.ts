/** Any function like the global `fetch`, for instance a Hono app's `request`. */
export type FetchLike = (url: string, init: RequestInit) => Response | Promise<Response>;

/** What a pod does when the coordinator cannot be reached: go on with a `degraded` lease, or wait and fail. */
export type OnUnavailable = "open" | "closed";

/** How to reach a coordinator. `timeoutMs` bounds one try, `deadlineMs` a call with all its retries. */
export interface ClientOptions {
  url: string;
  key: string;
  fetch?: FetchLike;
  timeoutMs?: number;
  deadlineMs?: number;
  onUnavailable?: OnUnavailable;
}

/** What every call takes: its own end, its own bounds in milliseconds, and whether it may be tried again. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  deadlineMs?: number | undefined;
  timeoutMs?: number | undefined;
  retry?: boolean | undefined;
}

/** The client's options, checked and filled in. */
export interface Settings {
  url: string;
  key: string;
  fetch: FetchLike | undefined;
  timeoutMs: number;
  deadlineMs: number;
  onUnavailable: OnUnavailable;
}

/** Checks a client's options and fills in defaults; throws a TypeError that never repeats the key. */
export function toSettings(options: ClientOptions): Settings {
  const url = new URL(options.url);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new TypeError("url must be http or https");
  if (url.username !== "" || url.password !== "") throw new TypeError("url must not hold a user or password");
  // fetch repeats a header it cannot send in its error, so such a key must not get that far.
  // It comes from the environment as a rule, where it may be missing whatever its type says.
  if (typeof options.key !== "string" || !/^[\x21-\x7e]+$/.test(options.key))
    throw new TypeError("key must be visible ASCII without spaces");
  return {
    url: `${url.origin}${url.pathname.replace(/\/+$/, "")}`,
    key: options.key,
    fetch: options.fetch,
    timeoutMs: duration("timeoutMs", options.timeoutMs ?? 5_000),
    deadlineMs: duration("deadlineMs", options.deadlineMs ?? 10_000),
    onUnavailable: options.onUnavailable ?? "open",
  };
}

/** Gives back a duration in milliseconds that is a finite number ≥ 0; otherwise throws a TypeError naming it. */
export function duration(name: string, value: number): number {
  if (!Number.isFinite(value) || value < 0) throw new TypeError(`${name} must be milliseconds, 0 or more`);
  return value;
}
