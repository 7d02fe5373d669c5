import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Stack, startStack } from "../../scripts/lib/stack.ts";
import { promtool } from "./promtool.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const dir = mkdtempSync(join(tmpdir(), "fleetgate-operate-"));
const ISSUER = "https://kubernetes.default.svc";
let stack: Stack;
let token: string;

const issuer = createServer();
const json = { "content-type": "application/json" };
const call = (path: string, init: RequestInit = {}, key = stack.key) =>
  fetch(`${stack.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...json } });
const post = (path: string, body: unknown, key?: string) =>
  call(path, { method: "POST", body: JSON.stringify(body) }, key);

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }] });
  issuer.on("request", (_, response) => response.end(jwks));
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  token = await new SignJWT({ "kubernetes.io": { pod: { name: "worker-7" } } })
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setIssuer(ISSUER)
    .setAudience("fleetgate")
    .setSubject("system:serviceaccount:gpu:worker")
    .setExpirationTime("1h")
    .sign(privateKey);
  const jwks_url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/openid/v1/jwks`;
  const issuers = [{ issuer: ISSUER, jwks_url, cluster: "a", scopes: ["worker"] }];
  stack = await startStack({ dir, port: 0, env: { FLEETGATE_ISSUERS: JSON.stringify(issuers) } });
});

afterAll(async () => {
  await stack?.stop();
  issuer.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Some work, so that every metric has a sample. */
async function work() {
  const pods = Array.from({ length: 10 }, (_, at) => ({ pod: `worker-${at}` }));
  await post("/v1/fleets/render/heartbeats", { cluster: "a", pods });
  for (let slot = 0; slot < 9; slot++)
    await post("/v1/fleets/render/acquire", { cluster: "a", pod: "worker-1" });
  await call("/v1/queues/infer", { method: "PUT", body: JSON.stringify({ fleet: "render" }) });
  await post("/v1/queues/infer/tasks", { payload: 1 });
  const limit = { algorithm: "token_bucket", capacity: 10, refill_per_s: 0.001 };
  await call("/v1/limits/api", { method: "PUT", body: JSON.stringify(limit) });
  await post("/v1/limits/api/take", { cost: 4 });
  await stack.worker.scheduled();
}

test("everything a scrape says has a sample once there was work", async () => {
  await work();
  const text = await (await call("/metrics")).text();
  expect(text).toMatch(/^fleetgate_up 1$/m);
  expect(text).toMatch(/^fleetgate_fleet_busy\{fleet="render"\} 8$/m);
  expect(text).toMatch(/^fleetgate_queue_ready\{queue="infer"\} 1$/m);
  expect(text).toMatch(/^fleetgate_limit_level\{limit="api"\} 6(\.\d+)?$/m);
  expect(text).toMatch(/^fleetgate_store_memory_bytes \d+$/m);
});

test("promtool reads a scrape and finds nothing to say against it", async () => {
  const text = await (await call("/metrics")).text();
  expect(promtool(["check", "metrics"], text)).toEqual({ status: 0, said: "" });
  expect(promtool(["check", "metrics"], `${text}fleetgate_up{ 1\n`).status).not.toBe(0);
});

test("a pod's token, proven by keys read over HTTP, speaks for that pod and for no other", async () => {
  const beat = async (cluster: string, pod: string) =>
    (await post("/v1/fleets/render/heartbeat", { cluster, pod }, token)).status;
  expect(await beat("a", "worker-7")).toBe(200);
  expect(await beat("a", "worker-8")).toBe(403);
  expect(await beat("b", "worker-7")).toBe(403);
});

test("events arrive while they happen, over one answer that stays open", async () => {
  const giveUp = new AbortController();
  const answer = await call("/v1/fleets/live/events", { signal: giveUp.signal });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const read = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await read()).toContain("event: snapshot");
  await post("/v1/fleets/live/heartbeat", { cluster: "a", pod: "newcomer" });
  expect(await read()).toMatch(/event: joined\ndata: .*"pod":"newcomer"/);
  giveUp.abort();
});

test("the log has a line for each request, and no key and no token in it", () => {
  const lines = readFileSync(join(dir, "worker.log"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const requests = lines.map((line) => JSON.parse(line)).filter(({ message }) => message === "request");
  expect(requests.length).toBeGreaterThan(10);
  expect(requests.every(({ route, status, ms, trips }) => route && status && ms >= 0 && trips >= 0)).toBe(
    true,
  );
  expect(lines.join("\n")).not.toContain(stack.key);
  expect(lines.join("\n")).not.toContain(token);
});

test("with the store down the Worker lives and is not ready, a scrape tells what it knows, and no number is invented", async () => {
  await stack.redis?.kill();
  const statusOf = async (path: string) => (await call(path)).status;
  await vi.waitFor(async () => expect(await statusOf("/readyz")).toBe(503), { timeout: 20_000 });
  expect(await statusOf("/healthz")).toBe(200);
  for (const path of ["/v1/scale/fleets/render", "/v1/scale/queues/infer"]) {
    const answer = await call(path);
    expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([path, 503, "1"]);
    expect(await answer.text()).not.toMatch(/"(live|busy|capacity|wanted|backlog|in_flight)"/);
  }
  const scrape = await call("/metrics");
  const text = await scrape.text();
  expect(scrape.status).toBe(200);
  expect(text).toMatch(/^fleetgate_up 0$/m);
  expect(text).toMatch(/^fleetgate_requests_total\{status="5xx"\} [1-9]/m);
  expect(text).not.toMatch(/^fleetgate_(fleet|queue|limit|unread)_/m);
  expect(promtool(["check", "metrics"], text)).toEqual({ status: 0, said: "" });
});
