import { expect, inject, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { makeKeyAuth } from "../../src/http/auth.ts";
import type { Page } from "../../src/http/page.ts";
import { makeClock } from "../../src/redis/clock.ts";
import { makeKeys } from "../../src/redis/keys.ts";
import { makeStore } from "../../src/redis/store.ts";

/** A coordinator with this page, as the Worker would make it from its assets. */
function appWith(page: Page | undefined) {
  const store = makeStore({ url: inject("restUrl"), token: inject("restToken") });
  const defer = () => {};
  const clock = makeClock({ time: () => store.time(), defer });
  return createApp({
    store,
    keys: makeKeys("page"),
    clock,
    defer,
    auth: makeKeyAuth([]),
    log: () => {},
    page,
  });
}

const html = { "content-type": "text/html; charset=utf-8", etag: '"1"' };

test("the page goes out without a key, as the assets hold it, and may not be framed, sniffed or tell addresses", async () => {
  const policy = "default-src 'none'; script-src 'sha256-x'";
  const app = appWith(
    async () => new Response("page", { headers: { ...html, "content-security-policy": policy } }),
  );
  const answer = await app.request("/");
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe("page");
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    ...html,
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
});

test("a page that came without a content policy may do nothing", async () => {
  const answer = await appWith(async () => new Response("page", { headers: html })).request("/");
  expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
});

test("the assets see the request as it came, and an unchanged page is 304", async () => {
  const app = appWith(async (request) => {
    expect(request.headers.get("if-none-match")).toBe('"1"');
    return new Response(null, { status: 304, headers: { etag: '"1"' } });
  });
  expect((await app.request("/", { headers: { "if-none-match": '"1"' } })).status).toBe(304);
});

test("without assets, and under any other name, there is no page", async () => {
  expect((await appWith(undefined).request("/")).status).toBe(404);
  const app = appWith(async () => new Response("page"));
  for (const path of ["/index.html", "/_headers", "//"]) expect((await app.request(path)).status).toBe(404);
  expect((await app.request("/", { method: "POST" })).status).toBe(405);
});
