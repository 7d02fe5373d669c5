import type { FleetsAnswer, PodsAnswer } from "../fleets/schema.ts";
import { has, type Send, segment } from "./call.ts";
import { type EventsOptions, follow } from "./events.ts";
import { type FleetCalls, fleetCalls, type PodsCall } from "./fleet-calls.ts";
import type { FleetEvent } from "./fleet-event.ts";
import { join } from "./keeper/join.ts";
import type { JoinOptions, Pod } from "./keeper/types.ts";
import type { CallOptions, Settings } from "./options.ts";

/** One fleet: its calls, its pods page by page, its events, and the keeper. */
export interface Fleet extends FleetCalls {
  readonly name: string;
  /** Every page of pods, one after the other, asked for as it is read. */
  podPages(page?: PodsCall, options?: CallOptions): AsyncGenerator<PodsAnswer, void, void>;
  /**
   * What happens to the fleet, as it happens: comes back by itself after a break, and tells no event twice. Throws
   * ProblemError, UnavailableError after `deadlineMs` out of reach, or the signal's reason; leaving the loop hangs up.
   */
  events(options?: EventsOptions): AsyncGenerator<FleetEvent, void, void>;
  /** Joins the fleet as a pod that a keeper beats for; throws ProblemError, or UnavailableError when closed. */
  join(options: JoinOptions): Promise<Pod>;
}

/** The rooms' part of the client that speaks of fleets. */
export interface FleetsRoom {
  /** The calls of one fleet; sends nothing by itself. */
  fleet(name: string): Fleet;
  /** Every fleet the key may see, with its counts. */
  fleets(options?: CallOptions): Promise<FleetsAnswer>;
}

/** Makes the fleets' part of the client. */
export function fleetsRoom(send: Send, settings: Settings): FleetsRoom {
  return {
    fleet: (name) => {
      const calls = fleetCalls(send, name);
      return {
        ...calls,
        name,
        podPages: (page, options) => podPages(calls, page, options),
        events: (options) => follow(settings, `/v1/fleets/${segment(name)}/events`, options),
        join: (options) => join({ calls, settings, fleet: name }, options),
      };
    },
    fleets: (options) =>
      send<FleetsAnswer>(
        { method: "GET", path: "/v1/fleets", accepts: (answer) => has(answer, { fleets: "array" }) },
        options,
      ),
  };
}

async function* podPages(calls: FleetCalls, page: PodsCall = {}, options?: CallOptions) {
  let asked = page;
  for (;;) {
    const answer = await calls.pods(asked, options);
    yield answer;
    if (typeof answer.next !== "string") return;
    asked = { ...page, cursor: answer.next };
  }
}
