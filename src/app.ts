import type { Hono } from "hono";
import { makeFilters } from "./filters/filters.ts";
import { filterRoutes } from "./filters/routes.ts";
import { makeFleets } from "./fleets/fleets.ts";
import { fleetRoutes } from "./fleets/routes.ts";
import { docsPage } from "./http/docs.ts";
import { openApi } from "./http/openapi.ts";
import { type Page, pageResponse } from "./http/page.ts";
import { type ServeOptions, serve } from "./http/serve.ts";
import { noteTrip } from "./http/trips.ts";
import { makeConfigurations } from "./leases/configuration.ts";
import { makeDenials } from "./leases/denials.ts";
import { makeLedger } from "./leases/ledger.ts";
import { makeTallies } from "./leases/tallies.ts";
import { makeLimits } from "./limits/limits.ts";
import { limitRoutes } from "./limits/routes.ts";
import { makeMeter } from "./operate/meter.ts";
import { makeOperate } from "./operate/operate.ts";
import { operateRoutes } from "./operate/routes.ts";
import { makeQueues } from "./queues/queues.ts";
import { queueRoutes } from "./queues/routes.ts";
import type { LoadOf } from "./rates/load.ts";
import { makeRates } from "./rates/rates.ts";
import { StoreUnavailable } from "./redis/errors.ts";
import type { Ground } from "./redis/ground.ts";
import { metered } from "./redis/metered.ts";

/** The whole coordinator: `fetch` answers, `scheduled` does what a cron is for, or all of it when none is named. */
export interface App {
  fetch: Hono["fetch"];
  request: Hono["request"];
  scheduled(cron?: string): Promise<void>;
}

/** The cron triggers of wrangler.toml, apart so that each has the subrequests of a run to itself. */
const CRONS = { sample: "* * * * *", adapt: "*/2 * * * *", purge: "*/5 * * * *" };

export interface AppOptions extends Ground, Pick<ServeOptions, "auth" | "log"> {
  /** What limits that adapt follow: by default the queues; a test gives its own. */
  loadOf?: LoadOf;
  /** The dashboard at `/`; without it that path is not there. */
  page?: Page | undefined;
}

/** Wires the rooms over one store. The only place that knows them all. */
export function createApp({ auth, log, loadOf, page, ...given }: AppOptions): App {
  const store = metered(given.store, given.clock.local, (trip) => {
    meter.trip(trip);
    noteTrip(trip);
  });
  const ground = { ...given, store };
  const tallies = makeTallies(ground);
  const meter = makeMeter(ground.keys.totals, tallies);
  const shared = {
    ...ground,
    configurations: makeConfigurations(ground),
    denials: makeDenials(ground.clock),
    rates: makeRates(ground),
    ledger: makeLedger(ground, tallies),
  };
  const queues = makeQueues({ ...shared, leased: (fleet) => fleets.leased(fleet) });
  const fleets = makeFleets({ ...shared, handBack: queues.handBack });
  const limits = makeLimits({ ...shared, loadOf: loadOf ?? queues.load });
  const filters = makeFilters({ ...shared, take: limits.takeOne });
  const operate = makeOperate({ ...shared, tallies, fleets, queues, limits });
  const operations = [
    ...fleetRoutes(fleets),
    ...limitRoutes(limits),
    ...filterRoutes(filters),
    ...queueRoutes(queues),
    ...operateRoutes(operate),
  ];
  // Made when first asked for: it takes longer than any call may on the free plan.
  let made: ReturnType<typeof openApi> | undefined;
  const document = () => {
    made ??= openApi(operations);
    return made;
  };
  const app = serve(operations, { auth, log, answered: meter.answered }, (pages) => {
    pages.get("/readyz", async (context) => {
      if (!(await operate.ready())) throw new StoreUnavailable("not ready");
      return context.json({ ok: true });
    });
    pages.get("/healthz", (context) => context.json({ ok: true }));
    pages.get("/openapi.json", (context) => context.json(document()));
    pages.get("/docs", (context) => context.html(docsPage(document())));
    if (page) pages.get("/", ({ req }) => pageResponse(page, req.raw));
  });
  return {
    fetch: app.fetch as Hono["fetch"],
    request: app.request as Hono["request"],
    async scheduled(cron) {
      const runs = (own: string) => cron === own || !Object.values(CRONS).includes(cron ?? "");
      if (runs(CRONS.sample)) await operate.sample();
      if (runs(CRONS.adapt)) await limits.adaptAll();
      if (!runs(CRONS.purge)) return;
      await queues.sweepAll();
      await fleets.purgeAll();
    },
  };
}
