import { type FiltersRoom, filtersRoom } from "./filters.ts";
import { type FleetsRoom, fleetsRoom } from "./fleets.ts";
import { type LimitsRoom, limitsRoom } from "./limits.ts";
import { type ClientOptions, toSettings } from "./options.ts";
import { type QueuesRoom, queuesRoom } from "./queues.ts";
import { createTransport } from "./transport.ts";

export type {
  AddAnswer,
  CheckAnswer,
  FilterAnswer,
  FilterCall,
  GuardAnswer,
  GuardCall,
} from "../filters/schema.ts";
export type {
  AcquireAnswer,
  AcquireCall,
  DrainAnswer,
  DrainCall,
  FleetsAnswer,
  HeartbeatAnswer,
  HeartbeatCall,
  HeartbeatsAnswer,
  HeartbeatsCall,
  LeaveAnswer,
  LeaveCall,
  PodsAnswer,
  PolicyCall,
  ReleaseAnswer,
  StatusAnswer,
} from "../fleets/schema.ts";
export type {
  LimitAnswer,
  LimitCall,
  LimitLevel,
  LimitsAnswer,
  SettleAnswer,
  SettleCall,
  TakeAnswer,
  TakeCall,
  TakesAnswer,
  TakesCall,
} from "../limits/schema.ts";
export type {
  FleetHistory,
  FleetScale,
  HistoryCall,
  IdleAnswer,
  IdleCall,
  QueueHistory,
  QueueScale,
  ScaleCall,
} from "../operate/schema.ts";
export type {
  BatchAnswer,
  CancelAnswer,
  ClaimCall,
  CompleteAnswer,
  DeadAnswer,
  EnqueueAnswer,
  FailAnswer,
  FailCall,
  PurgeAnswer,
  QueueAnswer,
  QueueCall,
  QueueConfig,
  QueuesAnswer,
  RedriveAnswer,
  TaskCall,
} from "../queues/schema.ts";
// biome-ignore lint/performance/noBarrelFile: the one entry of the package; errors are tested with instanceof
export * from "./errors.ts";
export type { EventsOptions } from "./events.ts";
export type { Filter } from "./filters.ts";
export type { PodsCall, PolicyAnswer } from "./fleet-calls.ts";
export type { FleetEvent } from "./fleet-event.ts";
export type { Fleet } from "./fleets.ts";
export type {
  AcquireOptions,
  JoinOptions,
  Lease,
  LeaveOutcome,
  Pod,
  PodState,
  ReleaseOutcome,
} from "./keeper/types.ts";
export type { Limit } from "./limits.ts";
export type { CallOptions, ClientOptions, FetchLike, OnUnavailable } from "./options.ts";
export type {
  ClaimAnswer,
  ClaimedTask,
  CompleteCall,
  DeadCall,
  PurgeCall,
  TaskAnswer,
} from "./queue-calls.ts";
export type { Queue } from "./queues.ts";
export type {
  Handler,
  TaskContext,
  Worker,
  WorkerCounts,
  WorkerOptions,
  WorkOptions,
} from "./worker/types.ts";

/** Every call of a coordinator, room by room. */
export interface Client extends FleetsRoom, LimitsRoom, FiltersRoom, QueuesRoom {}

/** Makes a client of one coordinator; sends nothing by itself. Throws a TypeError on a url or key that cannot work. */
export function createClient(options: ClientOptions): Client {
  const settings = toSettings(options);
  const send = createTransport(settings);
  return {
    ...fleetsRoom(send, settings),
    ...limitsRoom(send),
    ...filtersRoom(send),
    ...queuesRoom(send, settings),
  };
}
