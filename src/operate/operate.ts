import type { Fleets } from "../fleets/fleets.ts";
import type { Configurations } from "../leases/configuration.ts";
import type { Tallies } from "../leases/tallies.ts";
import type { Limits } from "../limits/limits.ts";
import type { Queues } from "../queues/queues.ts";
import type { Ground } from "../redis/ground.ts";
import { makeEvents } from "./events.ts";
import { makeHistory } from "./history.ts";
import { makeIdle } from "./idle.ts";
import { makeMetrics } from "./metrics.ts";
import { makeReady } from "./ready.ts";
import { makeSampler } from "./sampler.ts";
import { makeScale } from "./scale.ts";

/** The one room that may read others. */
export interface OperateOptions extends Ground {
  fleets: Fleets;
  queues: Queues;
  limits: Limits;
  configurations: Configurations;
  tallies: Tallies;
}

export type Operate = ReturnType<typeof makeOperate>;

/** What an operator looks at: it reads the other rooms and decides nothing. */
export function makeOperate(room: OperateOptions) {
  return {
    sample: makeSampler(room),
    history: makeHistory(room),
    scale: makeScale(room),
    idle: makeIdle(room),
    events: makeEvents(room),
    metrics: makeMetrics(room),
    ready: makeReady(room),
  };
}
