import type {
  AddAnswer,
  CheckAnswer,
  FilterAnswer,
  FilterCall,
  GuardAnswer,
  GuardCall,
} from "../filters/schema.ts";
import { has, type Send, segment } from "./call.ts";
import type { CallOptions } from "./options.ts";

/** The calls of one filter, each in the wire's own shapes. All may throw ProblemError and UnavailableError. */
export type Filter = ReturnType<typeof filterCalls>;

/** The rooms' part of the client that speaks of filters. */
export interface FiltersRoom {
  /** The calls of one filter; sends nothing by itself. */
  filter(name: string): Filter;
}

/** Makes the filters' part of the client. */
export const filtersRoom = (send: Send): FiltersRoom => ({ filter: (name) => filterCalls(send, name) });

/** Binds the calls of section Filters of the wire contract to one filter. */
function filterCalls(send: Send, name: string) {
  const base = `/v1/filters/${segment(name)}`;
  return {
    name,

    /** The filter's configuration. */
    get: (options?: CallOptions) =>
      send<FilterAnswer>({ method: "GET", path: base, accepts: isFilter }, options),

    /** Sets the filter's size; what was added before is still found. */
    put: (body: FilterCall, options?: CallOptions) =>
      send<FilterAnswer>({ method: "PUT", path: base, body, accepts: isFilter }, options),

    /** Removes the filter with all that was added. */
    delete: (options?: CallOptions) =>
      send<{ deleted: boolean }>(
        { method: "DELETE", path: base, accepts: (answer) => has(answer, { deleted: "boolean" }) },
        options,
      ),

    /** Adds up to 1,000 items; `added` counts those that were not found before. */
    add: (items: readonly string[], options?: CallOptions) =>
      send<AddAnswer>(
        {
          method: "POST",
          path: `${base}/add`,
          body: { items },
          accepts: (answer) => has(answer, { added: "number" }),
        },
        options,
      ),

    /** Whether each of up to 1,000 items was added, in their order; a yes may be wrong, a no never is. */
    check: async (items: readonly string[], options?: CallOptions): Promise<boolean[]> => {
      const accepts = (answer: Record<string, unknown>) =>
        Array.isArray(answer.present) && answer.present.length === items.length;
      const call = { method: "POST", path: `${base}/check`, body: { items }, accepts } as const;
      return (await send<CheckAnswer>(call, options)).present;
    },

    /** Spends from a limit for an item that was added, and nothing for any other. A retry might spend again: none is made. */
    guard: (body: GuardCall, options?: CallOptions) =>
      send<GuardAnswer>(
        {
          method: "POST",
          path: `${base}/guard`,
          body,
          accepts: (answer) => has(answer, { verdict: "string" }),
        },
        { retry: false, ...options },
      ),

    /** Starts a new generation; the one before answers until the next rotation. A retry might rotate twice: none is made. */
    rotate: (options?: CallOptions) =>
      send<{ rotated: true }>(
        {
          method: "POST",
          path: `${base}/rotate`,
          body: {},
          accepts: (answer) => has(answer, { rotated: "boolean" }),
        },
        { retry: false, ...options },
      ),
  };
}

const isFilter = (answer: Record<string, unknown>) =>
  has(answer, { capacity: "number", error_rate: "number" });
