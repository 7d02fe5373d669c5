import { fromMicro } from "../rates/micro.ts";
import { limitText, type Rate, type Rates, ratePerS, refuseTooDear } from "../rates/rates.ts";
import { keyHash } from "../redis/digest.ts";
import { StoreUnavailable } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import * as scripts from "./scripts.ts";

/** What is to be taken: `cost` from the bucket of a limit's key. */
export interface Taking {
  limit: string;
  key: string;
  cost: number;
  /** Where the cost stands in the body, for the refusal that names it. */
  path?: string;
}

/** How one taking went. `wait_ms` is 0, or how long until a lone caller would get it. */
export interface Take {
  rate: Rate;
  remaining: number;
  delay_ms: number;
  wait_ms: number;
  rate_per_s: number;
  spent: boolean;
  /** The limit only watches, and would have refused or delayed. */
  shadowed: boolean;
}

export interface Taken {
  allowed: boolean;
  takes: Take[];
  /** The store did not answer and every limit named lets pass then. */
  degraded: boolean;
}

export interface TakeOptions extends Ground {
  rates: Rates;
}

/** How long a request_id is known, in ms (PROTOCOL, Limits). */
export const REQUEST_MS = 86_400_000;

/**
 * Takes from every limit named, or from none. Throws `not-found`, `cost-exceeds-capacity`, `spans-shards`,
 * and StoreUnavailable unless every limit is known here and says `on_error: "allow"`.
 */
export function makeTake({ store, keys, clock, rates }: TakeOptions) {
  return async function take(takings: readonly Taking[], request?: string): Promise<Taken> {
    try {
      return await ask(takings, request);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      const takes = takings.flatMap((taking) => {
        const rate = rates.remembered(taking.limit);
        return rate?.limit.on_error === "allow" ? [unasked(rate, taking)] : [];
      });
      if (takes.length < takings.length) throw error;
      return { allowed: true, takes, degraded: true };
    }
  };

  async function ask(takings: readonly Taking[], request?: string): Promise<Taken> {
    const named = await Promise.all(takings.map(({ limit }) => rates.of(limit)));
    const limits: string[] = [];
    const buckets: string[] = [];
    for (const [at, { limit, key, cost, path }] of takings.entries()) {
      const rate = named[at] as Rate;
      refuseTooDear(rate, cost, path);
      limits.push(limitText(rate, cost));
      const names = keys.bucket(limit, await keyHash(key), request);
      buckets.push(names.bucket, names.request);
    }
    const [allowed, replies] = await store.run(scripts.take, {
      keys: {},
      restKeys: buckets,
      args: { now: await clock.now(), request_ttl_ms: request === undefined ? 0 : REQUEST_MS },
      rest: limits,
    });
    const takes = replies.map(([outcome, balance, delay_ms, wait_ms, rate], at) => {
      const spent = allowed === 1 && outcome === "taken";
      const take = { rate: named[at] as Rate, remaining: fromMicro(balance), rate_per_s: rate / 1e6, spent };
      return watched({ ...take, delay_ms: allowed ? delay_ms : 0, wait_ms });
    });
    return { allowed: allowed === 1, takes, degraded: false };
  }
}

/** A limit that only watches delays nobody either: it reports the wait instead. */
export function watched(take: Omit<Take, "shadowed">): Take {
  const wait_ms = take.wait_ms || take.delay_ms;
  if (!take.rate.limit.shadow || wait_ms === 0) return { ...take, shadowed: false };
  return { ...take, shadowed: true, delay_ms: 0, wait_ms };
}

function unasked(rate: Rate, { cost, path }: Taking): Take {
  refuseTooDear(rate, cost, path);
  return {
    rate,
    remaining: 0,
    delay_ms: 0,
    wait_ms: 0,
    rate_per_s: ratePerS(rate),
    spent: false,
    shadowed: false,
  };
}
