import { createClient } from "@redis/client";
import { Ratelimit } from "@upstash/ratelimit";
import { Redis } from "@upstash/redis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import type { Stack } from "./stack.ts";

/** One take of a bucket by its key; whether it was allowed. */
export type TakeOne = (key: string) => Promise<boolean>;

/** A limiter under test; `open` makes one that allows `capacity` a key and hardly refills. */
export interface Limiter {
  name: string;
  way: string;
  open(capacity: number): Promise<{ take: TakeOne; close(): Promise<void> }>;
}

const HOUR_S = 3_600;

/** The limiters that are compared, all over the Redis of one stack. */
export function limitersOf({ url, key, redis, rest }: Stack, token: string): Limiter[] {
  if (!redis || !rest) throw new Error("the stack needs a Redis of its own");
  const fleetgate = async (rules: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const name = `bench-${crypto.randomUUID().slice(0, 8)}`;
    const post = async (method: string, path: string, body: object) => {
      const answer = await fetch(`${url}/v1/limits/${name}${path}`, {
        method,
        headers,
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { allowed: boolean };
    };
    await post("PUT", "", rules);
    return {
      take: async (bucket: string) => (await post("POST", "/take", { key: bucket })).allowed,
      close: async () => {},
    };
  };
  return [
    {
      name: "Fleetgate, token bucket",
      way: "HTTP, Worker, REST",
      open: (capacity) => fleetgate({ algorithm: "token_bucket", capacity, refill_per_s: capacity / HOUR_S }),
    },
    {
      name: "Fleetgate, leaky bucket",
      way: "HTTP, Worker, REST",
      open: (capacity) => fleetgate({ algorithm: "leaky_bucket", capacity, leak_per_s: capacity / HOUR_S }),
    },
    {
      name: "@upstash/ratelimit 2.2.0, token bucket",
      way: "in process, REST",
      async open(capacity) {
        const limiter = new Ratelimit({
          redis: new Redis({ url: rest.url, token, enableTelemetry: false, enableAutoPipelining: false }),
          limiter: Ratelimit.tokenBucket(1, "1 h", capacity),
          prefix: `bench-${crypto.randomUUID().slice(0, 8)}`,
          ephemeralCache: false,
        });
        return { take: async (bucket) => (await limiter.limit(bucket)).success, close: async () => {} };
      },
    },
    {
      name: "rate-limiter-flexible 11.4.0, fixed window",
      way: "in process, TCP",
      async open(capacity) {
        const client = createClient({ url: redis.url });
        await client.connect();
        const limiter = new RateLimiterRedis({
          storeClient: client,
          useRedisPackage: true,
          points: capacity,
          duration: HOUR_S,
          keyPrefix: `bench-${crypto.randomUUID().slice(0, 8)}`,
        });
        const take = (bucket: string) =>
          limiter.consume(bucket).then(
            () => true,
            (refusal) => {
              if (refusal instanceof Error) throw refusal;
              return false;
            },
          );
        return { take, close: () => client.close() };
      },
    },
  ];
}
