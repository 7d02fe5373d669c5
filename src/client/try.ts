import { linked, unlessAborted } from "./abort.ts";
import { judge, type Outcome } from "./answer.ts";
import type { Call } from "./call.ts";
import type { Settings } from "./options.ts";
import { unlessHeard } from "./timers.ts";

/** Sends a call once and waits at most `timeoutMs` for the whole answer; throws only the caller's own abort reason. */
export async function tryOnce(
  settings: Settings,
  call: Call & { text: string | undefined },
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const ends = linked(signal);
  const cancel = unlessHeard(timeoutMs, () =>
    ends.abort(new Error(`no answer within ${Math.ceil(timeoutMs)} ms`)),
  );
  try {
    const response = await unlessAborted(request(settings, call, ends.signal), ends.signal);
    const text = await unlessAborted(response.text(), ends.signal);
    return judge(call, response.status, response.headers, text);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    return { kind: "failed", detail: describe(error, settings.key) };
  } finally {
    cancel();
    ends.unlink();
  }
}

/** Sends a request; resolves with the first of its answer. `more` are headers beside those of every call. */
export async function request(
  settings: Settings,
  call: Pick<Call, "method" | "path"> & { text?: string | undefined },
  signal: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${settings.key}`,
    accept: "application/json",
    ...more,
  };
  // "manual": a redirect would turn a POST into a GET, and could take the key elsewhere.
  const init: RequestInit = { method: call.method, headers, signal, redirect: "manual" };
  if (call.text !== undefined) {
    headers["content-type"] = "application/json";
    init.body = call.text;
  }
  const url = settings.url + call.path;
  return settings.fetch === undefined ? fetch(url, init) : settings.fetch(url, init);
}

/** The words of an error and of its cause, without the key. The error itself is not kept: it may hold headers. */
export function describe(error: unknown, key: string): string {
  try {
    const { message, cause } = error as { message: string; cause?: { code?: unknown; message?: unknown } };
    const more = cause?.code ?? cause?.message;
    return (more === undefined ? message : `${message}: ${String(more)}`).replaceAll(key, "[key]");
  } catch {
    return "the request failed";
  }
}
