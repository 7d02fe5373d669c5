import type { Configurations } from "../leases/configuration.ts";
import type { Denials } from "../leases/denials.ts";
import type { Ledger } from "../leases/ledger.ts";
import type { Rates } from "../rates/rates.ts";
import type { Ground } from "../redis/ground.ts";
import type { QueueConfigs } from "./configs.ts";

/** What the queues room stands on: the fleets' policies and denials live below both rooms. */
export interface QueuesGround extends Ground {
  configurations: Configurations;
  denials: Denials;
  rates: Rates;
  ledger: Ledger;
  /** Called after a claim has taken slots of a fleet. */
  leased(fleet: string): void;
}

export interface QueuesOptions extends QueuesGround {
  configs: QueueConfigs;
}
