import {
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import * as z from "zod/mini";
import { type Auth, type Caller, unauthorized } from "./auth.ts";
import { name } from "./fields.ts";
import { KeysUnavailable, makeKeySource } from "./jwks.ts";
import type { Log } from "./log.ts";
import { Problem } from "./problem.ts";
import { spokenFor, type Whom } from "./whom.ts";

const subject = z.string().check(z.minLength(1), z.maxLength(512));
const jwksUrl = z.url().check(
  z.refine((url) => /^https:|^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url), {
    error: "must be https, or on loopback",
  }),
);

/** Whose tokens are taken, and for what. No `fleets`, `queues` or `subjects` means all. */
export const issuerRecord = z
  .strictObject({
    issuer: z.string().check(z.minLength(1), z.maxLength(512)),
    jwks_url: z.optional(jwksUrl),
    jwks: z.optional(z.object({ keys: z.array(z.looseObject({ kty: z.string() })).check(z.minLength(1)) })),
    /** The cluster its pods speak for. */
    cluster: name,
    scopes: z.array(z.enum(["worker", "producer", "read"])).check(z.minLength(1)),
    fleets: z.optional(z.array(name)),
    queues: z.optional(z.array(name)),
    /** Service accounts, as `sub` names them: system:serviceaccount:<namespace>:<name>. */
    subjects: z.optional(z.array(subject)),
    /** Those that may speak for every pod of the cluster: a node agent that beats for many. */
    agents: z.optional(z.array(subject)),
  })
  .check(
    z.refine(({ jwks, jwks_url }) => (jwks === undefined) !== (jwks_url === undefined), {
      error: "must have either jwks or jwks_url",
    }),
  );
export type IssuerRecord = z.output<typeof issuerRecord>;

export interface TokenAuthOptions {
  issuers: readonly IssuerRecord[];
  /** The pod that holds a lease, by its id; undefined for a text we never made. */
  holderOf(lease: string): Whom | undefined;
  log: Log;
  /** This isolate's time, in ms. */
  local?: () => number;
  fetch?: typeof fetch;
}

const AUDIENCE = "fleetgate";
/** Asymmetric alone: with a shared-secret algorithm the public key would be the secret. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384"];
const LEEWAY_S = 60;
const MAX_CHARACTERS = 8_192;
const TOKEN = /^Bearer (eyJ[\w-]*\.[\w-]*\.[\w-]*)$/i;

/** Whether an `Authorization` header carries a token rather than a key. */
export const isToken = (authorization: string): boolean => /^Bearer eyJ[^.]*\./i.test(authorization);

/** Kubernetes service-account tokens of configured issuers. Every bad one is refused in the same words. */
export function makeTokenAuth({ issuers, holderOf, log, local = Date.now, ...more }: TokenAuthOptions): Auth {
  const trusted = issuers.map((record) => ({
    record,
    keyOf: makeKeySource({ ...record, jwks: record.jwks as JSONWebKeySet | undefined, local, ...more }),
  }));

  async function verify(token: string, keyOf: JWTVerifyGetKey, issuer: string): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, keyOf, {
      issuer,
      audience: AUDIENCE,
      algorithms: ALGORITHMS,
      clockTolerance: LEEWAY_S,
      requiredClaims: ["exp", "sub"],
      currentDate: new Date(local()),
    });
    return payload;
  }

  return {
    async identify(authorization = "") {
      try {
        const token = authorization.length <= MAX_CHARACTERS ? TOKEN.exec(authorization)?.[1] : undefined;
        if (!token) throw new errors.JWTInvalid("not a token");
        // Read before it is proven, only to choose whose keys must prove it.
        const { iss, sub } = decodeJwt(token);
        const found = trusted.find(
          ({ record }) => record.issuer === iss && (record.subjects?.includes(sub ?? "") ?? true),
        );
        if (!found) throw new errors.JWTClaimValidationFailed("unknown issuer or subject", {}, "iss");
        return callerOf(found.record, await verify(token, found.keyOf, found.record.issuer), holderOf);
      } catch (error) {
        if (error instanceof KeysUnavailable) throw unavailable(error);
        const cause = error instanceof errors.JOSEError ? error.code : "not a token";
        log({ level: "warn", message: "token refused", cause });
        throw unauthorized("this token is not accepted");
      }
    },
  };
}

function callerOf(record: IssuerRecord, payload: JWTPayload, holderOf: TokenAuthOptions["holderOf"]): Caller {
  const { cluster, scopes } = record;
  const sub = payload.sub ?? "";
  const pod = podOf(payload);
  const isAgent = record.agents?.includes(sub) ?? false;
  const isMine = (whom: Whom) =>
    whom.cluster === cluster && (isAgent || (whom.pod !== undefined && whom.pod === pod));
  return {
    id: `${cluster}/${sub}`.slice(0, 256),
    may: (wanted) => wanted.some((scope) => (scopes as readonly string[]).includes(scope)),
    mayTouch: (kind, touched) => record[kind]?.includes(touched) ?? true,
    maySpeak: (body) => spokenFor(body, holderOf).every(isMine),
  };
}

const claims = z.object({
  "kubernetes.io": z.object({ pod: z.object({ name: z.string().check(z.minLength(1)) }) }),
});

/** The pod a token is bound to; undefined for one that is bound to none. */
function podOf(payload: JWTPayload): string | undefined {
  return claims.safeParse(payload).data?.["kubernetes.io"].pod.name;
}

const unavailable = ({ message }: Error) =>
  new Problem("store-unavailable", `${message} now; try again`, { headers: { "retry-after": "5" } });
