import { type FleetsRoom, fleetsRoom } from "./fleets.ts";
import { type ClientOptions, toSettings } from "./options.ts";
import { type QueuesRoom, queuesRoom } from "./queues.ts";
import { createTransport } from "./transport.ts";

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
  RedriveAnswer,
  TaskCall,
} from "../queues/schema.ts";
// biome-ignore lint/performance/noBarrelFile: the one entry of the package; errors are tested with instanceof
export * from "./errors.ts";
export type { PodsCall, PolicyAnswer } from "./fleet-calls.ts";
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
export interface Client extends FleetsRoom, QueuesRoom {}

/** Makes a client of one coordinator; sends nothing by itself. Throws a TypeError on a url or key that cannot work. */
export function createClient(options: ClientOptions): Client {
  const settings = toSettings(options);
  const send = createTransport(settings);
  return { ...fleetsRoom(send, settings), ...queuesRoom(send, settings) };
}
