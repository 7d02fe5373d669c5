import { makeFleets } from "../../../src/fleets/fleets.ts";
import { makeConfigurations } from "../../../src/leases/configuration.ts";
import { makeDenials } from "../../../src/leases/denials.ts";
import { makeLedger } from "../../../src/leases/ledger.ts";
import { makeTallies } from "../../../src/leases/tallies.ts";
import { makeQueues } from "../../../src/queues/queues.ts";
import { makeRates } from "../../../src/rates/rates.ts";
import { makeClock } from "../../../src/redis/clock.ts";
import { makeKeys } from "../../../src/redis/keys.ts";
import type { Store } from "../../../src/redis/store.ts";

/** The key prefix of everything measured; the Worker's default. */
export const PREFIX = "fg";

/** The rooms as the Worker wires them, over any store and without HTTP, so that a store's speed can be told apart. */
export function makeRooms(store: Store) {
  const ignore = (work: Promise<unknown>) => void work.catch(() => undefined);
  const clock = makeClock({ time: () => store.time(), defer: ignore });
  const ground = { store, keys: makeKeys(PREFIX), clock, defer: ignore };
  const shared = {
    ...ground,
    configurations: makeConfigurations(ground),
    denials: makeDenials(clock),
    rates: makeRates(ground),
    ledger: makeLedger(ground, makeTallies(ground)),
  };
  const queues = makeQueues({ ...shared, leased: (fleet) => fleets.leased(fleet) });
  const fleets = makeFleets({ ...shared, handBack: queues.handBack });
  return { queues, fleets };
}

/** Fleets and queues over one store. */
export type Rooms = ReturnType<typeof makeRooms>;
