import fc from "fast-check";
import { expect, inject, test } from "vitest";
import { limitOf } from "../support/limit.ts";
import { World } from "../support/world.ts";

/** A token bucket as a person would keep it on paper: exact fractions of a micro-token, in thousandths (ms). */
class Model {
  #balance: bigint;
  #at: number;
  #capacity: bigint;
  #rate: bigint;
  readonly #requests = new Map<string, { cost: bigint; settled: boolean }>();

  constructor(now: number, capacity: number, rate: number) {
    this.#at = now;
    this.#capacity = milli(capacity);
    this.#rate = BigInt(Math.round(rate * 1e6));
    this.#balance = this.#capacity;
  }

  /** Whole micro-tokens there are now. */
  balance(now: number): bigint {
    this.#balance = least(this.#capacity, this.#balance + this.#rate * BigInt(now - this.#at));
    this.#at = now;
    return this.#balance;
  }

  change(now: number, capacity: number, rate: number): void {
    this.balance(now);
    this.#capacity = milli(capacity);
    this.#rate = BigInt(Math.round(rate * 1e6));
    this.#balance = most(-this.#capacity, least(this.#capacity, this.#balance));
  }

  take(now: number, cost: number, request?: string): boolean {
    if (request !== undefined && this.#requests.has(request)) return true;
    if (this.balance(now) < milli(cost)) return false;
    this.#balance -= milli(cost);
    if (request !== undefined) this.#requests.set(request, { cost: milli(cost), settled: false });
    return true;
  }

  settle(now: number, request: string, actual: number): boolean | undefined {
    const known = this.#requests.get(request);
    if (!known) return undefined;
    if (known.settled) return false;
    known.settled = true;
    this.#balance = most(
      -this.#capacity,
      least(this.#capacity, this.balance(now) + known.cost - milli(actual)),
    );
    return true;
  }
}

const milli = (amount: number): bigint => BigInt(Math.round(amount * 1e6)) * 1_000n;
const least = (one: bigint, other: bigint) => (one < other ? one : other);
const most = (one: bigint, other: bigint) => (one > other ? one : other);

const amount = fc.integer({ min: 1, max: 20_000 }).map((thousandths) => thousandths / 1_000);
const request = fc.constantFrom("r1", "r2", "r3");
const step = fc.oneof(
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
  fc.record({
    do: fc.constant("take" as const),
    cost: amount,
    request: fc.option(request, { nil: undefined }),
  }),
  fc.record({ do: fc.constant("settle" as const), request, actual: amount }),
  fc.record({ do: fc.constant("change" as const), capacity: amount, rate: amount }),
);

test("takes, settlements, changes and waits in any order, through several isolates, come out as on paper", async () => {
  const world = new World();
  // Each isolate's memory of the configuration may be 5 s old; the bucket itself must know better.
  const isolates = [world, world.isolate(), world.isolate()];
  let run = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
    const name = `run-${++run}`;
    const at = (place: number) => limitOf(isolates[place % isolates.length] as World, name);
    await at(0).set({ capacity: 10, refill_per_s: 1 });
    let capacity = 10;
    const model = new Model(world.now, 10, 1);
    for (const [place, one] of steps.entries()) {
      if (one.do === "wait") world.advance(one.ms);
      if (one.do === "change") {
        ({ capacity } = one);
        await at(0).set({ capacity, refill_per_s: one.rate });
        model.change(world.now, capacity, one.rate);
        // An isolate that has not heard of the change would judge a cost by the old capacity.
        world.advance(5_000);
      }
      if (one.do === "take" && one.cost <= capacity) {
        const body = { cost: one.cost, ...(one.request ? { request_id: one.request } : {}) };
        const { allowed } = (await at(place).take(body)).body;
        expect([place, allowed]).toEqual([place, model.take(world.now, one.cost, one.request)]);
      }
      if (one.do === "settle") {
        const { status, body } = await at(place).settle({ request_id: one.request, actual: one.actual });
        const settled = model.settle(world.now, one.request, one.actual);
        expect([place, status === 404 ? undefined : body.settled]).toEqual([place, settled]);
      }
      const left = Number(most(0n, model.balance(world.now))) / 1e9;
      const { remaining } = (await at(place + 1).peek()).body;
      expect(Math.abs(remaining - left)).toBeLessThanOrEqual(0.001_01);
    }
  });
  await fc.assert(property, { numRuns: 30, seed: inject("seed") });
});
