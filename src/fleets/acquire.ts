import type * as z from "zod/mini";
import { Problem } from "../http/problem.ts";
import { retryAfterMs } from "../leases/backoff.ts";
import { capacityOf, tenThousandths } from "../leases/capacity.ts";
import type { Configuration, Configurations } from "../leases/configuration.ts";
import type { Denials, Inquiry } from "../leases/denials.ts";
import { parseLease, slotLeaseId, slotRequest } from "../leases/lease-id.ts";
import { makePoll } from "../leases/poll.ts";
import type { Rates } from "../rates/rates.ts";
import type { Ground } from "../redis/ground.ts";
import type { AcquireAnswer, acquireBody } from "./schema.ts";
import * as scripts from "./scripts.ts";

type Body = z.output<typeof acquireBody>;
type Denied = Extract<AcquireAnswer, { granted: false }>;

export interface AcquireOptions extends Ground {
  configurations: Configurations;
  denials: Denials;
  rates: Rates;
}

/**
 * Asks for a slot, again and again up to `wait_ms`, at most 40 times; holds nothing while waiting.
 * Throws `unknown-class`, `not-found` when the policy names a limit that is not there, and `request-ended` when
 * the lease of this request has been released or has lapsed.
 */
export function makeAcquire({ store, keys, clock, configurations, denials, rates }: AcquireOptions) {
  const poll = makePoll(clock);
  return async function acquire(fleet: string, body: Body, signal: AbortSignal): Promise<AcquireAnswer> {
    const request = body.request_id ?? crypto.randomUUID();
    const inquiry: Inquiry = { request: body.request_id && nameOf(body, body.request_id) };
    return poll(
      { wait_ms: body.wait_ms, signal, name: inquiry.request && `${fleet}/${inquiry.request}` },
      () => ask(fleet, body, request, inquiry),
      ({ granted }) => granted,
    );
  };

  async function ask(fleet: string, body: Body, request: string, inquiry: Inquiry): Promise<AcquireAnswer> {
    const configuration = await configurations.of(fleet);
    const { policy } = configuration;
    const ratio = Object.hasOwn(policy.classes, body.class) ? policy.classes[body.class]?.ratio : undefined;
    if (ratio === undefined) throw unknownClass(body.class, configuration);
    const asked = body.request_id !== undefined;
    const { cluster, pod, instance = "" } = body;
    const ttl_ms = body.ttl_ms ?? policy.lease_ttl_ms;
    const holder = { cluster, pod, instance, class: body.class, ttl_ms };
    const lease = slotLeaseId(holder, request);
    if (policy.paused && !asked) return denied("paused", body);
    const remembered = denials.recall(fleet, body.class, inquiry);
    if (remembered && !policy.paused) return denied("at_capacity", body, remembered.counts);

    const epoch = denials.epoch(fleet, body.class);
    const { restKeys, limit, spent } = await rates.gate(policy.limit, fleet);
    const now = await clock.now();
    const question = {
      keys: keys.fleet(fleet),
      restKeys,
      args: {
        now,
        ratio: tenThousandths(ratio),
        open: policy.paused ? 0 : 1,
        asked: asked ? 1 : 0,
        lease,
        ttl_ms,
        request: body.ttl_ms === undefined ? (inquiry.request ?? "") : "",
        limit,
      },
    };
    const [outcome, id, expiresAt, live, busy] = await denials.asking(
      fleet,
      inquiry,
      () => store.run(scripts.acquire, question),
      ([outcome]) => outcome !== "granted" && outcome !== "ended",
    );
    spent(outcome === "granted" ? 1 : 0);
    const counts = { live, busy, capacity: capacityOf(live, ratio) };
    // The grant that fills a class tells as much as the denial that would come next.
    if (outcome === "denied" || (outcome === "granted" && busy >= counts.capacity))
      denials.remember(fleet, body.class, { counts }, epoch);
    switch (outcome) {
      case "granted": {
        const times = { ttl_ms: parseLease(id)?.ttl_ms ?? ttl_ms, expires_at: expiresAt };
        return { granted: true, lease: { id, class: body.class, ...times }, ...counts };
      }
      case "ended":
        throw new Problem(
          "request-ended",
          "the lease of this request_id was released or has lapsed; use a new one",
        );
      case "limited":
        return { ...denied("rate_limited", body, counts), retry_after_ms: expiresAt };
      case "paused":
        return denied("paused", body);
      case "denied":
        return denied("at_capacity", body, counts);
    }
  }
}

const nameOf = ({ cluster, pod, instance = "", class: name }: Body, request: string) =>
  slotRequest({ cluster, pod, instance, class: name }, request);

function denied(reason: Denied["reason"], body: Body, counts: Partial<Denied> = {}): Denied {
  return { granted: false, reason, retry_after_ms: retryAfterMs(body.attempt), ...counts };
}

function unknownClass(name: string, { policy }: Configuration): Problem {
  const known = Object.keys(policy.classes).join(", ");
  return new Problem("unknown-class", `the policy has no class ${name}; it has ${known}`, {
    errors: [{ path: "class", message: `must be one of ${known}` }],
  });
}
