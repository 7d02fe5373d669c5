/** Billed commands of an operation: DESIGN's budgets, which test/lua/alone.test.ts holds. */
export const BUDGETS = {
  /** Of a pod that holds a lease; an idle one costs one less. */
  heartbeat: 3,
  /** Of up to 500 pods, some of which hold leases. */
  heartbeats: 3,
  acquire: 4,
  release: 2,
  /** A minute's sample of one fleet, with the reading of names. */
  sample: 10,
  /** What an isolate counted in a minute: of one fleet, and in all. */
  tally: 6,
  /** A scrape of one fleet. */
  scrape: 12,
} as const;

/** In US dollars, as published on the day given. */
export const PRICES = {
  read: "2026-11-09",
  upstash: { per100kCommands: 0.2, freeCommands: 500_000, fixed250Mb: 10, fixedRegion: 5 },
  workers: { base: 5, includedRequests: 10_000_000, perMillion: 0.3, freeRequestsADay: 100_000 },
} as const;

export interface Setting {
  pods: number;
  /** Time between two heartbeats of a pod, in seconds. */
  interval: number;
  /** Whether one call beats for up to 500 pods. */
  batched: boolean;
}

export interface MonthlyCost {
  requests: number;
  commands: number;
  /** US dollars a month. */
  upstash: number;
  upstashSecondRegion: number;
  workers: number;
  /** Whether Workers' free plan would do. */
  fitsFree: boolean;
}

const DAYS = 30;
const MINUTES = DAYS * 1_440;
const BATCH = 500;
/** One slot taken and given back by each pod in this many minutes. */
export const MINUTES_A_TASK = 10;
/** Isolates that count at the same time, a scrape a minute. */
const ISOLATES = 3;

/** What one fleet costs in a month of 30 days. */
export function monthlyCost({ pods, interval, batched }: Setting): MonthlyCost {
  const rounds = (MINUTES * 60) / interval;
  const calls = batched ? Math.ceil(pods / BATCH) : pods;
  const tasks = (pods * MINUTES) / MINUTES_A_TASK;
  const beats = rounds * calls;
  const background = MINUTES * (BUDGETS.sample + BUDGETS.scrape + ISOLATES * BUDGETS.tally);
  const requests = beats + 2 * tasks + MINUTES;
  const commands =
    beats * (batched ? BUDGETS.heartbeats : BUDGETS.heartbeat) +
    tasks * (BUDGETS.acquire + BUDGETS.release) +
    background;
  const upstash = upstashPrice(commands);
  return {
    requests,
    commands,
    upstash,
    // Every write is billed again in each further region; of an operation about half its commands write.
    upstashSecondRegion: upstashPrice(commands * 1.5),
    workers: workersPrice(requests),
    fitsFree: requests / DAYS <= PRICES.workers.freeRequestsADay,
  };
}

function upstashPrice(commands: number): number {
  const { per100kCommands, freeCommands } = PRICES.upstash;
  return commands <= freeCommands ? 0 : (commands / 100_000) * per100kCommands;
}

function workersPrice(requests: number): number {
  const { base, includedRequests, perMillion, freeRequestsADay } = PRICES.workers;
  if (requests / DAYS <= freeRequestsADay) return 0;
  return base + (Math.max(0, requests - includedRequests) / 1_000_000) * perMillion;
}

/** docs/cost.md. */
export function costPage(): string {
  const rows = [10, 100, 1_000, 10_000].flatMap((pods) =>
    [5, 10, 30].flatMap((interval) => [false, true].map((batched) => row({ pods, interval, batched }))),
  );
  const { upstash, workers } = PRICES;
  return `# What a month costs

Made by \`./scripts/cost --write\` from the budgets that \`test/lua/alone.test.ts\` holds and from published prices, read
on ${PRICES.read}: Upstash pay as you go, $${upstash.per100kCommands} for 100,000 commands (the first ${million(upstash.freeCommands)} million a month
free on the free plan); Cloudflare Workers, $${workers.base} a month with ${million(workers.includedRequests)} million requests, then $${workers.perMillion} a million (the free plan
ends at ${workers.freeRequestsADay.toLocaleString("en")} requests a day). Prices change: look before you decide.

One fleet of pods at work, each taking a slot every ${MINUTES_A_TASK} minutes; a sample and a scrape a minute. *Single*: each pod beats for
itself. *Batched*: one call beats for up to ${BATCH} pods, as a node agent or a sidecar of the cluster sends it.

| pods | beat every | heartbeats | requests / month | commands / month | Upstash | with a second region | Workers |
|---:|---:|---|---:|---:|---:|---:|---:|
${rows.join("\n")}

Not in the table: storage and bandwidth (Upstash gives 200 GB a month, then takes $0.03 a GB; a heartbeat is about 1 KB
both ways), CPU time beyond Workers' 30 million ms ($0.02 a million), queues (a task costs about 20 commands from enqueue
to completion) and an open stream of events (about 85 commands a minute).

## Which to choose

- **Up to 10 pods** single heartbeats every 10 or 30 s fit Workers' free plan; Upstash's fixed plan bounds the rest.
- **From 100 pods on** batch: requests and commands then hardly grow with the fleet, and what is left is the work itself.
- **The interval** sets how fast a dead pod is noticed: its ttl is three beats or more. Ten seconds suit most.
- **A fixed Upstash plan** ($${upstash.fixed250Mb} a month for 250 MB, $${upstash.fixedRegion} for each further region) bills no commands: it is cheaper from about
  ${million((upstash.fixed250Mb / upstash.per100kCommands) * 100_000)} million commands a month, as long as its bandwidth (50 GB) lasts.
`;
}

function row(setting: Setting): string {
  const cost = monthlyCost(setting);
  const cells = [
    setting.pods.toLocaleString("en"),
    `${setting.interval} s`,
    setting.batched ? "batched" : "single",
    `${million(cost.requests)} M`,
    `${million(cost.commands)} M`,
    dollars(cost.upstash),
    dollars(cost.upstashSecondRegion),
    cost.fitsFree ? "free" : dollars(cost.workers),
  ];
  return `| ${cells.join(" | ")} |`;
}

const million = (count: number) =>
  (count / 1_000_000).toLocaleString("en", { maximumFractionDigits: count < 10_000_000 ? 1 : 0 });
const dollars = (sum: number) =>
  `$${sum.toLocaleString("en", { minimumFractionDigits: sum < 100 ? 2 : 0, maximumFractionDigits: sum < 100 ? 2 : 0 })}`;
