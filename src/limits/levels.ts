import { fromMicro } from "../rates/micro.ts";
import { limitText, type Rate, type Rates } from "../rates/rates.ts";
import { keyHash } from "../redis/digest.ts";
import { StoreFault } from "../redis/errors.ts";
import type { Ground } from "../redis/ground.ts";
import { type Readable, readEach } from "../redis/readable.ts";
import { answerOf } from "./answer.ts";
import { DEFAULT_KEY, type LimitLevel, type TakeAnswer } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { watched } from "./take.ts";

export interface LevelsOptions extends Ground {
  rates: Rates;
}

type Looked = readonly [balance: number, delay_ms: number, wait_ms: number, microRate: number];

/** Looks at buckets and spends nothing. */
export function makeLevels({ store, keys, clock, rates }: LevelsOptions) {
  const callOf = async (rate: Rate, key: string, now: number) => ({
    keys: keys.bucket(rate.name, await keyHash(key)),
    args: { now, limit: limitText(rate, Math.min(1, rate.limit.capacity)) },
  });

  return {
    /** What a take of 1 would hear now (of the whole capacity where that is less). Throws `not-found`. */
    async peek(limit: string, key: string): Promise<TakeAnswer> {
      const rate = await rates.of(limit);
      return lookedAt(rate, await store.run(scripts.peek, await callOf(rate, key, await clock.now())));
    },

    /** The same of the key `default` of many limits, in few trips; a limit that is not there is left out. */
    async levels(limits: readonly string[]): Promise<Readable<LimitLevel>> {
      const { rows: known, broken } = await rates.several(limits);
      const now = await clock.now();
      const calls = await Promise.all(known.map((rate) => callOf(rate, DEFAULT_KEY, now)));
      const replies = await store.runs(scripts.peek, calls);
      const names = known.map(({ name }) => name);
      const looked = readEach(names, (limit, at) => {
        const [reply, rate] = [replies[at], known[at]];
        if (!reply || !rate) throw new StoreFault(`a bucket of the limit ${limit} cannot be read`);
        return { limit, ...lookedAt(rate, reply), config: rate.limit };
      });
      return { rows: looked.rows, broken: [...broken, ...looked.broken] };
    },
  };
}

function lookedAt(rate: Rate, [balance, delay_ms, wait_ms, microRate]: Looked): TakeAnswer {
  const take = {
    rate,
    remaining: fromMicro(balance),
    rate_per_s: microRate / 1e6,
    delay_ms,
    wait_ms,
    spent: false,
  };
  return answerOf(watched(take), wait_ms === 0 || rate.limit.shadow);
}
