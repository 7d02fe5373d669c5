import type * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import type { LoadOf } from "../rates/load.ts";
import { fromMicro } from "../rates/micro.ts";
import { limitText, type Rates } from "../rates/rates.ts";
import type { Limit } from "../rates/schema.ts";
import { keyHash } from "../redis/digest.ts";
import type { Ground } from "../redis/ground.ts";
import { makeAdapt } from "./adapt.ts";
import { answerOf } from "./answer.ts";
import { makeConfigure } from "./configure.ts";
import { rateHeaders } from "./headers.ts";
import { makeLevels } from "./levels.ts";
import type { SettleAnswer, settleBody, TakesAnswer, takeBody, takesBody } from "./schema.ts";
import * as scripts from "./scripts.ts";
import { makeTake, REQUEST_MS, type Take, type Taken, type Taking } from "./take.ts";

export interface LimitsOptions extends Ground {
  rates: Rates;
  loadOf: LoadOf;
}

export type Limits = ReturnType<typeof makeLimits>;

/** Rates: how much may be spent, and when there will be more. */
export function makeLimits(room: LimitsOptions) {
  const { store, keys, clock, rates } = room;
  const configure = makeConfigure(room);
  const adapt = makeAdapt(room);
  rates.onSpent(adapt.noticed);
  const levels = makeLevels(room);
  const ask = makeTake(room);

  async function take(takings: readonly Taking[], request: string | undefined): Promise<Taken> {
    const taken = await ask(takings, request);
    for (const [at, { rate, spent }] of taken.takes.entries()) {
      adapt.noticed(rate, spent ? (takings[at]?.cost ?? 0) : 0);
      if (!taken.degraded) rates.noticed(rate.name);
    }
    return taken;
  }

  return {
    ...levels,
    adaptAll: adapt.adaptAll,
    names: rates.names,

    /** One take for another room. */
    async takeOne(limit: string, key: string, cost: number) {
      const { allowed, takes } = await take([{ limit, key, cost }], undefined);
      const [{ delay_ms, wait_ms }] = takes as [Take];
      return { allowed, delay_ms, wait_ms };
    },

    async set(name: string, limit: Limit): Promise<Limit> {
      await configure.set(name, limit);
      return limit;
    },

    async get(name: string): Promise<Limit> {
      const rate = await rates.read(name);
      if (!rate) throw new Problem("not-found", `there is no limit ${name}`);
      return rate.limit;
    },

    remove: async (name: string) => ({ deleted: await configure.remove(name) }),

    /** Takes from one limit, or says when a lone caller could. */
    async take(limit: string, { key, cost, request_id }: z.output<typeof takeBody>) {
      const { allowed, takes, degraded } = await take([{ limit, key, cost }], request_id);
      const [one] = takes as [Take];
      const body = { ...answerOf(one, allowed), ...(degraded ? { degraded: true as const } : {}) };
      return { body, headers: rateHeaders(takes, allowed ? undefined : one.wait_ms) };
    },

    /** Takes from all or from none; of those that refuse, the one with the longest wait is named. */
    async takes({ takes: takings, request_id }: z.output<typeof takesBody>) {
      const named = takings.map((taking, at) => ({ ...taking, path: `takes.${at}.cost` }));
      const { allowed, takes, degraded } = await take(named, request_id);
      const slowest = takes.reduce((one, other) => (refusalMs(other) > refusalMs(one) ? other : one));
      const refusal = { refused_by: slowest.rate.name, retry_after_ms: slowest.wait_ms };
      const body: TakesAnswer = {
        allowed,
        ...(allowed ? {} : refusal),
        takes: takes.map(({ rate, remaining, delay_ms }) => ({ limit: rate.name, remaining, delay_ms })),
        ...(degraded ? { degraded: true } : {}),
      };
      return { body, headers: rateHeaders(takes, body.retry_after_ms) };
    },

    /** Corrects a take by what it really cost, once. Throws `unknown-request` for one not known, or for over 24 h. */
    async settle(limit: string, body: z.output<typeof settleBody>): Promise<SettleAnswer> {
      const rate = await rates.of(limit);
      const [outcome, balance] = await store.run(scripts.settle, {
        keys: keys.bucket(limit, await keyHash(body.key), body.request_id),
        args: { now: await clock.now(), limit: limitText(rate, body.actual), request_ttl_ms: REQUEST_MS },
      });
      // A limit that only watches never fails its caller.
      if (outcome === "unknown" && !rate.limit.shadow) {
        throw new Problem("unknown-request", "no take with this request_id and key is known");
      }
      return { settled: outcome === "settled", remaining: fromMicro(balance) };
    },
  };
}

/** One that only watches refuses nobody, however long its own wait. */
const refusalMs = ({ shadowed, wait_ms }: Take): number => (shadowed ? 0 : wait_ms);
