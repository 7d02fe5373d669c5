import { env } from "cloudflare:workers";
import { expect, inject, test } from "vitest";
import script from "../../src/fleets/heartbeat.lua";

const bindings = env as unknown as Record<string, string>;

async function redis(...command: string[]) {
  const headers = { authorization: `Bearer ${inject("restToken")}` };
  const answer = await fetch(inject("restUrl"), { method: "POST", headers, body: JSON.stringify(command) });
  return answer.json();
}

test("tests of this project run in workerd, where Lua files are text", () => {
  expect(navigator.userAgent).toBe("Cloudflare-Workers");
  expect(script).toContain("KEYS:");
});

test("tests reach a real Redis by the bindings that the Worker gets", async () => {
  expect(bindings.UPSTASH_REDIS_REST_URL).toBe(inject("restUrl"));
  expect(bindings.FLEETGATE_KEYS).not.toContain(inject("adminKey"));
  expect(await redis("PING")).toEqual({ result: "PONG" });
});

test("keys without a common hash tag do not work together, as on a cluster", async () => {
  expect(await redis("MGET", "{a}1", "{b}1")).toEqual({ error: expect.stringMatching(/^CROSSSLOT /) });
});
