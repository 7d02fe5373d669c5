import type { Hono } from "hono";
import { makeFilters } from "./filters/filters.ts";
import { filterRoutes } from "./filters/routes.ts";
import { makeFleets } from "./fleets/fleets.ts";
import { fleetRoutes } from "./fleets/routes.ts";
import { docsPage } from "./http/docs.ts";
import { openApi } from "./http/openapi.ts";
import { type ServeOptions, serve } from "./http/serve.ts";
import { makeConfigurations } from "./leases/configuration.ts";
import { makeDenials } from "./leases/denials.ts";
import { makeLimits } from "./limits/limits.ts";
import { limitRoutes } from "./limits/routes.ts";
import { makeQueues } from "./queues/queues.ts";
import { queueRoutes } from "./queues/routes.ts";
import type { LoadOf } from "./rates/load.ts";
import { makeRates } from "./rates/rates.ts";
import type { Ground } from "./redis/ground.ts";

/** The whole coordinator: `fetch` answers, `scheduled` does what a cron does. */
export interface App {
  fetch: Hono["fetch"];
  request: Hono["request"];
  scheduled(): Promise<void>;
}

export interface AppOptions extends Ground, ServeOptions {
  /** What limits that adapt follow; a test gives its own. */
  loadOf?: LoadOf;
}

/** Wires the rooms over one store. The only place that knows them all. */
export function createApp({ auth, log, loadOf = noLoad, ...ground }: AppOptions): App {
  const shared = {
    ...ground,
    configurations: makeConfigurations(ground),
    denials: makeDenials(ground.clock),
    rates: makeRates(ground),
  };
  const queues = makeQueues(shared);
  const fleets = makeFleets({ ...shared, handBack: queues.handBack });
  const limits = makeLimits({ ...shared, loadOf });
  const filters = makeFilters({ ...shared, take: limits.takeOne });
  const operations = [
    ...fleetRoutes(fleets),
    ...limitRoutes(limits),
    ...filterRoutes(filters),
    ...queueRoutes(queues),
  ];
  // Made when first asked for: it takes longer than any call may on the free plan.
  let made: ReturnType<typeof openApi> | undefined;
  const document = () => {
    made ??= openApi(operations);
    return made;
  };
  const app = serve(operations, { auth, log }, (pages) => {
    pages.get("/healthz", (context) => context.json({ ok: true }));
    pages.get("/openapi.json", (context) => context.json(document()));
    pages.get("/docs", (context) => context.html(docsPage(document())));
  });
  return {
    fetch: app.fetch as Hono["fetch"],
    request: app.request as Hono["request"],
    async scheduled() {
      await queues.sweepAll();
      await fleets.purgeAll();
      await limits.adaptAll();
    },
  };
}

// Until queues tell their load, limits that adapt keep their rate.
const noLoad: LoadOf = async () => undefined;
