import { type Auth, type KeyRecord, makeKeyAuth } from "./http/auth.ts";
import { isToken, makeTokenAuth, type TokenAuthOptions } from "./http/tokens.ts";
import { parseLease } from "./leases/lease-id.ts";

export interface AuthOptions extends Omit<TokenAuthOptions, "holderOf"> {
  keys: readonly KeyRecord[];
}

/** Keys, and pods' own tokens: which of the two a caller sends shows in how it begins. */
export function makeAuth({ keys, ...more }: AuthOptions): Auth {
  const keyAuth = makeKeyAuth(keys);
  const tokenAuth = makeTokenAuth({ ...more, holderOf: parseLease });
  return {
    identify: (authorization) =>
      isToken(authorization ?? "") ? tokenAuth.identify(authorization) : keyAuth.identify(authorization),
  };
}
