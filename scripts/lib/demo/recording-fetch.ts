import type { FetchLike } from "../../../src/client/index.ts";
import type { Write } from "./journal.ts";
import type { Answered, Sent } from "./lines.ts";

type CallLine = Sent | Answered | { event: "unanswered"; call: number; what: string; why: string };

/** A `fetch` that writes down each call before it is sent, and what came of it. */
export function recordingFetch(write: Write<CallLine>): FetchLike {
  let calls = 0;
  return async (url, init) => {
    const call = ++calls;
    const what = new URL(url).pathname.split("/").at(-1) ?? "";
    const { state, leases, request_id: request } = JSON.parse(String(init.body ?? "{}"));
    write({ event: "sent", call, what, request, state, leases });
    try {
      const response = await fetch(url, init);
      const text = await response.text();
      write({ event: "answered", call, what, status: response.status, ...countsIn(text) });
      return new Response(text, { status: response.status, headers: response.headers });
    } catch (error) {
      write({ event: "unanswered", call, what, why: error instanceof Error ? error.message : "unknown" });
      throw error;
    }
  };
}

function countsIn(text: string): Partial<Answered> {
  try {
    const { granted, lease, live, busy, capacity, lost } = JSON.parse(text);
    return { granted, lease, live, busy, capacity, lost };
  } catch {
    return {};
  }
}
