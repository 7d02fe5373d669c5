import { waitUntil } from "cloudflare:workers";
import { type App, createApp } from "./app.ts";
import { makeAuth } from "./auth.ts";
import { type Env, parseEnv } from "./env.ts";
import { makeLog } from "./http/log.ts";
import { Problem, problemResponse } from "./http/problem.ts";
import { makeClock } from "./redis/clock.ts";
import { makeKeys } from "./redis/keys.ts";
import { makeStore } from "./redis/store.ts";

function build(env: Env): App {
  const keyLocking = { auto: undefined, on: true, off: false }[env.FLEETGATE_KEY_LOCKING];
  const store = makeStore({
    url: env.UPSTASH_REDIS_REST_URL,
    token: env.UPSTASH_REDIS_REST_TOKEN,
    ...(keyLocking === undefined ? {} : { keyLocking }),
  });
  const { ASSETS: assets } = env;
  const log = makeLog(env.LOG_LEVEL);
  const defer = (work: Promise<unknown>) => waitUntil(work);
  return createApp({
    store,
    keys: makeKeys(env.FLEETGATE_PREFIX),
    clock: makeClock({ time: () => store.time(), defer }),
    defer,
    page: assets && ((request) => assets.fetch(request)),
    auth: makeAuth({ keys: env.FLEETGATE_KEYS, issuers: env.FLEETGATE_ISSUERS, log }),
    log,
  });
}

let app: App | undefined;

/** Bindings do not change while an isolate lives, so the app is built once. */
function theApp(bindings: unknown): App {
  app ??= build(parseEnv(bindings));
  return app;
}

export default {
  fetch(request, bindings, context) {
    try {
      return theApp(bindings).fetch(request, {}, context);
    } catch (error) {
      const detail = error instanceof Error ? error.message : "the Worker cannot start";
      console.error(JSON.stringify({ level: "error", message: detail }));
      return problemResponse(new Problem("internal", detail), crypto.randomUUID());
    }
  },

  async scheduled(event, bindings) {
    await theApp(bindings).scheduled(event.cron);
  },
} satisfies ExportedHandler;
