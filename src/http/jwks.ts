import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";

export interface KeySourceOptions {
  /** The keys themselves, or where they are read from. */
  jwks?: JSONWebKeySet | undefined;
  jwks_url?: string | undefined;
  /** This isolate's time, in ms. */
  local(): number;
  fetch?: typeof fetch;
}

/** The keys of an issuer cannot be read, and none are known. */
export class KeysUnavailable extends Error {
  override name = "KeysUnavailable";
}

/** After this the keys are read again, so that one taken out of use ends. */
const FRESH_MS = 600_000;
/** An unknown kid has them read at most this often, whoever sends it. */
const COOLDOWN_MS = 30_000;
/** While none are known, an issuer that failed is asked again after this. */
const RETRY_MS = 1_000;
const TIMEOUT_MS = 2_000;
const MAX_CHARACTERS = 262_144;

/** Finds the key of a token among an issuer's. Throws what jose throws for an unknown key, and KeysUnavailable. */
export function makeKeySource(options: KeySourceOptions): JWTVerifyGetKey {
  if (options.jwks) return createLocalJWKSet(options.jwks);
  const { jwks_url: url = "", local, fetch: get = fetch } = options;
  let known: { find: JWTVerifyGetKey; since: number } | undefined;
  let asked = Number.NEGATIVE_INFINITY;
  let failed = Number.NEGATIVE_INFINITY;

  async function read(): Promise<JWTVerifyGetKey> {
    asked = local();
    const answer = await get(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = answer.status === 200 ? await answer.text() : "";
    if (text.length > MAX_CHARACTERS) throw new Error("too long");
    const find = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
    known = { find, since: local() };
    return find;
  }

  const mayAsk = () => local() >= asked + COOLDOWN_MS;

  async function current(): Promise<JWTVerifyGetKey> {
    if (known && (local() < known.since + FRESH_MS || !mayAsk())) return known.find;
    const isTried = local() < failed + RETRY_MS;
    try {
      if (!isTried) return await read();
    } catch {
      failed = local();
    }
    if (known) return known.find;
    throw new KeysUnavailable("the keys of the issuer cannot be read");
  }

  return async (header, token) => {
    const find = await current();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !mayAsk()) throw error;
      const again = await read().catch(() => find);
      return again(header, token);
    }
  };
}
