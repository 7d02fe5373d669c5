import { exportSPKI } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { makeAuth } from "../../src/auth.ts";
import { parseEnv } from "../../src/env.ts";
import type { LogLine } from "../../src/http/log.ts";
import type { IssuerRecord } from "../../src/http/tokens.ts";
import { ISSUER, makeIssuer, NOW, podClaims, unsigned } from "../support/issuer.ts";
import { World } from "../support/world.ts";

type Issuer = Awaited<ReturnType<typeof makeIssuer>>;

let issuer: Issuer;
let other: Issuer;
beforeAll(async () => {
  [issuer, other] = [await makeIssuer(), await makeIssuer("k1")];
});

function worldOf(record: Partial<IssuerRecord> = {}, more: { fetch?: typeof fetch; lines?: LogLine[] } = {}) {
  const time = { now: NOW };
  const keys = record.jwks_url ? {} : { jwks: issuer.jwks };
  const issuers = [{ issuer: ISSUER, cluster: "a", scopes: ["worker" as const], ...keys, ...record }];
  const log = (line: LogLine) => more.lines?.push(line);
  const fetching = more.fetch ? { fetch: more.fetch } : {};
  const world = new World({ auth: makeAuth({ keys: [], issuers, log, local: () => time.now, ...fetching }) });
  return { world, time };
}

const pod = { cluster: "a", pod: "worker-0" };
const base = "/v1/fleets/render";

describe("a good token", () => {
  test("speaks for its own pod in every call of a worker", async () => {
    const { world } = worldOf();
    const token = await issuer.sign();
    const say = (path: string, body: object) => world.call("POST", `${base}/${path}`, body, token);
    expect((await say("heartbeat", pod)).status).toBe(200);
    expect((await say("heartbeats", { cluster: "a", pods: [{ pod: "worker-0" }] })).status).toBe(200);
    const { body } = await say("acquire", pod);
    expect(body.granted).toBe(true);
    expect((await say("release", { leases: [body.lease.id] })).body.released).toEqual([body.lease.id]);
    expect((await say("leave", pod)).body.left).toBe(true);
  });

  test("may do no more than its issuer's scopes, fleets and queues", async () => {
    const { world } = worldOf({ fleets: ["render"], queues: ["infer"] });
    const token = await issuer.sign();
    expect((await world.call("GET", base, undefined, token)).body.code).toBe("wrong-scope");
    expect((await world.call("PUT", `${base}/policy`, {}, token)).body.code).toBe("wrong-scope");
    const elsewhere = await world.call("POST", "/v1/fleets/other/heartbeat", pod, token);
    expect(elsewhere.body.code).toBe("not-yours");
    expect((await world.call("POST", "/v1/queues/other/claim", pod, token)).body.code).toBe("not-yours");
  });

  test.each(["ES256", "ES384", "RS512"])("may be signed with %s", async (alg) => {
    const signer = await makeIssuer("k9", alg);
    const { world } = worldOf({ jwks: signer.jwks });
    const answer = await world.call("POST", `${base}/heartbeat`, pod, await signer.sign());
    expect(answer.status).toBe(200);
  });
});

describe("a token of cluster a", () => {
  const B = { cluster: "b", pod: "worker-0" };
  const A1 = { cluster: "a", pod: "worker-1" };

  test.each([
    ["heartbeat", B],
    ["heartbeat", A1],
    ["heartbeats", { cluster: "b", pods: [{ pod: "worker-0" }] }],
    ["heartbeats", { cluster: "a", pods: [{ pod: "worker-0" }, { pod: "worker-1" }] }],
    ["acquire", B],
    ["acquire", A1],
    ["leave", B],
    ["leave", A1],
    ["release", { leases: ["l/b/worker-0//normal/30000/r1"] }],
    ["release", { leases: ["l/a/worker-0//normal/30000/r1", "l/a/worker-1//normal/30000/r1"] }],
  ])("cannot %s for another pod: %j", async (path, body) => {
    const { world } = worldOf();
    const answer = await world.call("POST", `${base}/${path}`, body, await issuer.sign());
    expect(answer).toMatchObject({ status: 403, body: { code: "not-yours" } });
    expect(await world.snapshot()).toBe("[]");
  });

  test.each(["claim", "complete", "fail"])("cannot %s for another pod", async (call) => {
    const { world } = worldOf();
    const task = "t/b/w//normal/30000/infer/1790000000000/1790000000000/00/id/normal/0/1/1/0///h/1/0/1/1/0";
    const body = call === "claim" ? B : { lease: task };
    const answer = await world.call("POST", `/v1/queues/infer/${call}`, body, await issuer.sign());
    expect(answer).toMatchObject({ status: 403, body: { code: "not-yours" } });
  });

  test("speaks for the whole cluster, and for no other, when its service account is an agent's", async () => {
    const { world } = worldOf({ agents: ["system:serviceaccount:gpu:agent"] });
    const agent = await issuer.sign(podClaims("agent-x", { sub: "system:serviceaccount:gpu:agent" }));
    const pods = [{ pod: "worker-0" }, { pod: "worker-1" }];
    const beat = (cluster: string) => world.call("POST", `${base}/heartbeats`, { cluster, pods }, agent);
    expect((await beat("a")).status).toBe(200);
    expect((await beat("b")).status).toBe(403);
  });

  test("that is bound to no pod speaks for none", async () => {
    const { world } = worldOf();
    const token = await issuer.sign(podClaims("", { "kubernetes.io": { namespace: "gpu" } }));
    expect((await world.call("POST", `${base}/heartbeat`, pod, token)).status).toBe(403);
  });
});

describe("a bad token is 401 in the same words, whatever is wrong", () => {
  const seconds = (ms: number) => (NOW + ms) / 1_000;
  const header = { alg: "RS256", kid: "k1" };
  const bad: [why: string, token: () => Promise<string> | string][] = [
    ["expired beyond the leeway", () => issuer.sign(podClaims("worker-0", { exp: seconds(-61_000) }))],
    ["not yet valid beyond the leeway", () => issuer.sign(podClaims("worker-0", { nbf: seconds(61_000) }))],
    ["without an end", () => issuer.sign(podClaims("worker-0", { exp: undefined }))],
    ["without a subject", () => issuer.sign(podClaims("worker-0", { sub: undefined }))],
    ["for another audience", () => issuer.sign(podClaims("worker-0", { aud: ["kubernetes"] }))],
    ["without an audience", () => issuer.sign(podClaims("worker-0", { aud: undefined }))],
    ["of another issuer", () => issuer.sign(podClaims("worker-0", { iss: "https://evil.test" }))],
    ["signed with another key", () => other.sign()],
    ["of an unknown kid", () => issuer.sign(podClaims(), { kid: "k2" })],
    ["unsigned", () => unsigned(header, podClaims())],
    ["with alg none", () => unsigned({ alg: "none" }, podClaims())],
    ["with alg NoNe and a signature", () => unsigned({ alg: "NoNe" }, podClaims(), "c2ln")],
    [
      "signed by HS256 with the public key as the secret",
      async () =>
        issuer.sign(
          podClaims(),
          { alg: "HS256" },
          new TextEncoder().encode(await exportSPKI(issuer.publicKey)),
        ),
    ],
    ["larger than 8 KiB", () => issuer.sign(podClaims("worker-0", { padding: "x".repeat(8_192) }))],
    [
      "with a changed body",
      async () => {
        const [head, , signature] = (await issuer.sign()).split(".");
        const body = unsigned({}, podClaims("worker-1")).split(".")[1];
        return [head, body, signature].join(".");
      },
    ],
    ["of two parts", () => "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0"],
    ["that is no JSON", () => "eyJ.eyJ.eyJ"],
  ];

  test.each(bad)("%s", async (_, make) => {
    const lines: LogLine[] = [];
    const { world } = worldOf({}, { lines });
    const token = await make();
    const answer = await world.call("POST", `${base}/heartbeat`, pod, token);
    expect(answer.status).toBe(401);
    expect(answer.body.detail).toBe("this token is not accepted");
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="fleetgate"');
    expect(lines).toMatchObject([{ message: "token refused" }]);
    expect(JSON.stringify(lines)).not.toContain(token.slice(0, 40));
  });

  test("of a service account that is not listed", async () => {
    const { world } = worldOf({ subjects: ["system:serviceaccount:gpu:another"] });
    expect((await world.call("POST", `${base}/heartbeat`, pod, await issuer.sign())).status).toBe(401);
  });
});

test("a wrong issuer in the Worker's settings is named by its place, and its value is not told", () => {
  const settings = (issuer: object) => ({
    UPSTASH_REDIS_REST_URL: "https://store.test",
    UPSTASH_REDIS_REST_TOKEN: "secret",
    FLEETGATE_KEYS: "[]",
    FLEETGATE_ISSUERS: JSON.stringify([issuer]),
  });
  const good = { issuer: ISSUER, cluster: "a", scopes: ["worker"], jwks_url: "https://issuer.test/jwks" };
  expect(parseEnv(settings(good)).FLEETGATE_ISSUERS).toHaveLength(1);
  for (const wrong of [
    { jwks_url: "http://issuer.test/jwks" },
    { jwks_url: undefined },
    { jwks: { keys: [{ kty: "RSA" }] } },
    { scopes: ["admin"] },
    { cluster: "a b" },
  ]) {
    expect(() => parseEnv(settings({ ...good, ...wrong }))).toThrow(/FLEETGATE_ISSUERS: 0/);
  }
});

test("a minute of leeway stands for clocks that differ", async () => {
  const { world } = worldOf();
  for (const claims of [{ exp: NOW / 1_000 - 59 }, { nbf: NOW / 1_000 + 59 }]) {
    const token = await issuer.sign(podClaims("worker-0", claims));
    expect((await world.call("POST", `${base}/heartbeat`, pod, token)).status).toBe(200);
  }
});

describe("keys read from the issuer", () => {
  const jwks_url = "https://issuer.test/jwks";
  const serve = (answers: (() => Response)[]) => {
    const asked: string[] = [];
    const get = async (url: unknown) => {
      asked.push(String(url));
      return (answers[asked.length - 1] ?? answers.at(-1))?.() ?? Response.error();
    };
    return { asked, fetch: get as typeof fetch };
  };
  const jwks =
    (...issuers: Issuer[]) =>
    () =>
      Response.json({ keys: issuers.map(({ jwk }) => jwk) });
  const beat = async (world: World, token: string) =>
    (await world.call("POST", `${base}/heartbeat`, pod, token)).status;

  test("are kept, read again for an unknown kid, and no more than once in 30 s however many come", async () => {
    const rotated = await makeIssuer("k2");
    const { asked, fetch } = serve([jwks(issuer), jwks(issuer, rotated)]);
    const { world, time } = worldOf({ jwks_url }, { fetch });
    expect([await beat(world, await issuer.sign()), await beat(world, await issuer.sign())]).toEqual([
      200, 200,
    ]);
    expect(asked).toEqual([jwks_url]);
    const newToken = await rotated.sign();
    expect(await beat(world, newToken)).toBe(401);
    time.now += 30_000;
    expect(await beat(world, newToken)).toBe(200);
    for (let call = 0; call < 5; call++)
      expect(await beat(world, await issuer.sign({}, { kid: "k3" }))).toBe(401);
    expect(asked).toHaveLength(2);
  });

  test("are read again after 10 minutes, and those known stand while the issuer is away", async () => {
    const down = () => new Response("no", { status: 502 });
    const { asked, fetch } = serve([jwks(issuer), down, jwks(other)]);
    const { world, time } = worldOf({ jwks_url }, { fetch });
    const token = await issuer.sign();
    expect(await beat(world, token)).toBe(200);
    time.now += 600_000;
    expect(await beat(world, token)).toBe(200);
    time.now += 30_000;
    expect(await beat(world, token)).toBe(401);
    expect(asked).toHaveLength(3);
  });

  test.each([
    ["answers an error", () => new Response("no", { status: 500 })],
    ["answers no JSON", () => new Response("<html>")],
    ["answers no keys", () => Response.json({})],
    ["redirects", () => new Response(null, { status: 302, headers: { location: "https://evil.test" } })],
    ["is not there", () => Response.error()],
  ])("that never could be read are our trouble, not the token's, when the issuer %s", async (_, answer) => {
    const { asked, fetch } = serve([answer]);
    const { world } = worldOf({ jwks_url }, { fetch });
    const token = await issuer.sign();
    expect([await beat(world, token), await beat(world, token)]).toEqual([503, 503]);
    expect(asked).toHaveLength(1);
  });
});
