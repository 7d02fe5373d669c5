import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

export const ISSUER = "https://issuer.test";
export const NOW = 1_790_000_000_000;

type Claims = Record<string, unknown>;

/** What a Kubernetes service-account token says, for a pod. */
export const podClaims = (pod = "worker-0", more: Claims = {}): Claims => ({
  iss: ISSUER,
  aud: ["fleetgate"],
  sub: "system:serviceaccount:gpu:worker",
  iat: NOW / 1_000,
  nbf: NOW / 1_000,
  exp: NOW / 1_000 + 3_600,
  "kubernetes.io": { namespace: "gpu", pod: { name: pod, uid: "u" }, serviceaccount: { name: "worker" } },
  ...more,
});

/** A local issuer with one key of its own. */
export async function makeIssuer(kid = "k1", alg = "RS256") {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
  return {
    jwk,
    jwks: { keys: [jwk as JWK & { kty: string }] },
    publicKey,
    sign: (claims: Claims = podClaims(), header: Claims = {}, key: CryptoKey | Uint8Array = privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, typ: "JWT", ...header }).sign(key),
  };
}

/** A token put together by hand, signed by nobody. */
export function unsigned(header: Claims, claims: Claims, signature = ""): string {
  const part = (value: Claims) =>
    btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${part(header)}.${part(claims)}.${signature}`;
}
