import { slotLeaseId } from "../../../src/leases/lease-id.ts";
import { policyBody } from "../../../src/leases/policy.ts";
import { makeKeys } from "../../../src/redis/keys.ts";
import type { RawRedis } from "./redis.ts";
import { PREFIX, type Rooms } from "./rooms.ts";

/** A fleet filled to a size, whose pods outlive the measuring. */
export interface BenchFleet {
  name: string;
  size: number;
  /** The pod with that number, as calls name it. */
  pod(number: number): { cluster: string; pod: string };
}

const DAY_MS = 86_400_000;
const CLUSTERS = 4;
const BATCH = 500;

/** `full` has capacity for 10 of 100,000, so that it is always refused. */
const POLICY = policyBody.parse({
  ttl_ms: DAY_MS,
  classes: { normal: { ratio: 0.8 }, high: { ratio: 1 }, full: { ratio: 0.0001 } },
});

const podOf = (number: number) => ({ cluster: `c${number % CLUSTERS}`, pod: `worker-${number}` });

/** Makes a fleet of `size` live pods, half of whose slots are taken (one slot in a small one). */
export async function fillFleet({ fleets }: Rooms, redis: RawRedis, size: number): Promise<BenchFleet> {
  const name = `bench-${size}`;
  await fleets.setPolicy(name, POLICY);
  for (let cluster = 0; cluster < CLUSTERS; cluster++) {
    const pods = numbers(size).filter((number) => number % CLUSTERS === cluster);
    for (let from = 0; from < pods.length; from += BATCH) {
      const batch = pods.slice(from, from + BATCH).map((number) => ({ pod: podOf(number).pod }));
      await fleets.heartbeats(name, { cluster: `c${cluster}`, pods: batch });
    }
  }
  const { members } = makeKeys(PREFIX).fleet(name);
  const deadline = 1e15 + Date.now() + DAY_MS;
  const leases = numbers(size < 100 ? 1 : size / 2).map((number) =>
    slotLeaseId({ ...podOf(number), instance: "", class: "normal", ttl_ms: DAY_MS }, `fill-${number}`),
  );
  for (let from = 0; from < leases.length; from += BATCH) {
    const entries = leases.slice(from, from + BATCH).flatMap((lease) => [deadline, lease]);
    await redis.send("ZADD", members, ...entries);
  }
  return { name, size, pod: (number) => podOf(number % size) };
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
