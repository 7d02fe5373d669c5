import type {
  FleetHistory,
  FleetScale,
  HistoryCall,
  IdleAnswer,
  IdleCall,
  QueueHistory,
  QueueScale,
  ScaleCall,
} from "../operate/schema.ts";
import { has, query, type Send, segment } from "./call.ts";
import type { CallOptions } from "./options.ts";

/** Binds the calls of section Operate of the wire contract to one fleet. */
export function fleetOperateCalls(send: Send, fleet: string) {
  const name = segment(fleet);
  return {
    /** What to scale the fleet by: `wanted` is how many pods hold what is busy, and `spare` slots more. */
    scale: (call: ScaleCall = {}, options?: CallOptions) =>
      send<FleetScale>(
        { method: "GET", path: `/v1/scale/fleets/${name}${query({ ...call })}`, accepts: isScale },
        options,
      ),

    /** The pods that hold nothing, longest idle first: those to remove first. */
    idle: (call: IdleCall = {}, options?: CallOptions) =>
      send<IdleAnswer>(
        { method: "GET", path: `/v1/fleets/${name}/idle${query({ ...call })}`, accepts: isPods },
        options,
      ),

    /** What the fleet was in the last hour (the default), day or month. */
    history: (call: HistoryCall = {}, options?: CallOptions) =>
      send<FleetHistory>(
        { method: "GET", path: `/v1/fleets/${name}/history${query({ ...call })}`, accepts: isHistory },
        options,
      ),
  };
}

/** Binds the calls of section Operate of the wire contract to one queue. */
export function queueOperateCalls(send: Send, queue: string) {
  const name = segment(queue);
  return {
    /** What to scale by: `wanted` is how many pods hold the backlog, and `spare` slots more. */
    scale: (call: ScaleCall = {}, options?: CallOptions) =>
      send<QueueScale>(
        { method: "GET", path: `/v1/scale/queues/${name}${query({ ...call })}`, accepts: isScale },
        options,
      ),

    /** What the queue was in the last hour (the default), day or month. */
    history: (call: HistoryCall = {}, options?: CallOptions) =>
      send<QueueHistory>(
        { method: "GET", path: `/v1/queues/${name}/history${query({ ...call })}`, accepts: isHistory },
        options,
      ),
  };
}

type Answer = Record<string, unknown>;
const isScale = (answer: Answer) => has(answer, { wanted: "number" });
const isPods = (answer: Answer) => has(answer, { pods: "array" });
const isHistory = (answer: Answer) => has(answer, { step_ms: "number", samples: "array" });
