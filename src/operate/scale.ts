import type { Fleets } from "../fleets/fleets.ts";
import { Problem } from "../http/problem.ts";
import { capacityOf, podsFor } from "../leases/capacity.ts";
import type { Configurations } from "../leases/configuration.ts";
import type { Policy } from "../leases/policy.ts";
import type { Queues } from "../queues/queues.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Broken } from "../redis/readable.ts";
import type { FleetScale, QueueScale } from "./schema.ts";

export interface ScaleOptions {
  fleets: Fleets;
  queues: Queues;
  configurations: Configurations;
}

/** How a caller wants the answer: for which class, and with how many slots to spare. */
export interface ScaleQuery {
  class: string;
  spare: number;
}

/** Numbers to scale by. Each throws StoreUnavailable or StoreFault rather than give a number it does not know. */
export function makeScale({ fleets, queues, configurations }: ScaleOptions) {
  return {
    /** `wanted` pods would hold what is busy, and the spare, at the ratio of the class. Throws `unknown-class`. */
    async fleet(fleet: string, { class: className, spare }: ScaleQuery): Promise<FleetScale> {
      const ratio = ratioOf((await configurations.of(fleet)).policy, className);
      const { fleets: rows, broken } = await fleets.list([fleet]);
      const { live, busy } = theOne(rows, broken) ?? { live: 0, busy: 0 };
      return { live, busy, capacity: capacityOf(live, ratio), wanted: podsFor(busy + spare, ratio) };
    },

    /** `wanted` pods would hold the backlog, and the spare; zeros for a queue that is not there. */
    async queue(queue: string, { class: className, spare }: ScaleQuery): Promise<QueueScale> {
      const { rows, broken } = await queues.statuses([queue]);
      const status = theOne(rows, broken);
      if (!status) return { backlog: 0, in_flight: 0, wanted: 0 };
      const { backlog, in_flight, config } = status;
      const ratio = ratioOf((await configurations.of(config.fleet)).policy, className);
      return { backlog, in_flight, wanted: podsFor(backlog + spare, ratio) };
    },
  };
}

/** The one row that was asked for. Throws StoreFault where it is broken: a zero would scale to nothing. */
function theOne<Row>(rows: readonly Row[], [broken]: readonly Broken[] = []): Row | undefined {
  if (broken) throw new StoreFault(broken.detail);
  return rows[0];
}

function ratioOf({ classes }: Policy, name: string): number {
  const ratio = Object.hasOwn(classes, name) ? classes[name]?.ratio : undefined;
  if (ratio !== undefined) return ratio;
  throw new Problem("unknown-class", `the policy has no class ${name}`, {
    errors: [{ path: "class", message: `must be one of ${Object.keys(classes).join(", ")}` }],
  });
}
