import type { Hono } from "hono";
import { makeFleets } from "./fleets/fleets.ts";
import { fleetRoutes } from "./fleets/routes.ts";
import { docsPage } from "./http/docs.ts";
import { openApi } from "./http/openapi.ts";
import { type Page, pageResponse } from "./http/page.ts";
import { type ServeOptions, serve } from "./http/serve.ts";
import { makeConfigurations } from "./leases/configuration.ts";
import { makeDenials } from "./leases/denials.ts";
import { makeLedger } from "./leases/ledger.ts";
import { makeTallies } from "./leases/tallies.ts";
import { makeOperate } from "./operate/operate.ts";
import { operateRoutes } from "./operate/routes.ts";
import { makeQueues } from "./queues/queues.ts";
import { queueRoutes } from "./queues/routes.ts";
import type { Ground } from "./redis/ground.ts";

/** The whole coordinator: `fetch` answers, `scheduled` does what a cron is for, or all of it when none is named. */
export interface App {
  fetch: Hono["fetch"];
  request: Hono["request"];
  scheduled(cron?: string): Promise<void>;
}

/** The cron triggers of wrangler.toml, apart so that each has the subrequests of a run to itself. */
const SAMPLING = "* * * * *";
const PURGING = "*/5 * * * *";

export interface AppOptions extends Ground, ServeOptions {
  /** The dashboard at `/`; without it that path is not there. */
  page?: Page | undefined;
}

/** Wires the rooms over one store. The only place that knows them all. */
export function createApp({ auth, log, page, ...ground }: AppOptions): App {
  const tallies = makeTallies(ground);
  const shared = {
    ...ground,
    configurations: makeConfigurations(ground),
    denials: makeDenials(ground.clock),
    ledger: makeLedger(ground, tallies),
  };
  const queues = makeQueues(shared);
  const fleets = makeFleets({ ...shared, handBack: queues.handBack });
  const operate = makeOperate({ ...shared, fleets, queues });
  const operations = [...fleetRoutes(fleets), ...queueRoutes(queues), ...operateRoutes(operate)];
  const document = openApi(operations);
  const app = serve(operations, { auth, log }, (pages) => {
    pages.get("/healthz", (context) => context.json({ ok: true }));
    pages.get("/openapi.json", (context) => context.json(document));
    if (page) pages.get("/", ({ req }) => pageResponse(page, req.raw));
    pages.get("/docs", (context) => context.html(docsPage(document)));
  });
  return {
    fetch: app.fetch as Hono["fetch"],
    request: app.request as Hono["request"],
    async scheduled(cron) {
      if (cron !== PURGING) await operate.sample();
      if (cron === SAMPLING) return;
      await queues.sweepAll();
      await fleets.purgeAll();
    },
  };
}
