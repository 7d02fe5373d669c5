import { parseArgs } from "node:util";
import { writeSection } from "./lib/bench/document.ts";
import { benchFleetDay } from "./lib/bench/fleet-day.ts";
import { benchGate } from "./lib/bench/gate.ts";
import { describeMachine } from "./lib/bench/machine.ts";
import { benchQueues } from "./lib/bench/queues.ts";
import { render, type Table } from "./lib/bench/table.ts";

const HELP = `fleetgate bench: speed and cost on this machine

  ./scripts/bench [gate|queues|fleet-day|all] [--quick] [--write]

  gate       heartbeat, acquire and release: straight on Redis, through the REST front, through the Worker
  queues     enqueue, claim and complete, beside BullMQ on the same Redis
  fleet-day  what a fleet of 1,000 pods costs, beside the common recipe
  --quick    a short run of each, to see that all works; its figures mean little
  --write    puts the tables into docs/performance.md
`;

interface Bench {
  run(quick: boolean, tell: (text: string) => void): Promise<Table[]>;
  /** Whether its figures are times, so that a machine in use spoils them. */
  timed: boolean;
}

const BENCHES: { [name: string]: Bench } = {
  gate: { run: benchGate, timed: true },
  queues: { run: benchQueues, timed: true },
  "fleet-day": { run: benchFleetDay, timed: false },
};

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [name = "all", more] = positionals;
  if (more !== undefined || (name !== "all" && !Object.hasOwn(BENCHES, name)))
    throw new Error(`${more ?? name} is not one of ${[...Object.keys(BENCHES), "all"].join(", ")}`);
  return { ...values, names: name === "all" ? Object.keys(BENCHES) : [name] };
}

async function main() {
  const { names, quick, write, help } = readOptions();
  if (help) return void process.stdout.write(HELP);
  for (const name of names) {
    const bench = BENCHES[name] as Bench;
    const machine = `Taken on ${describeMachine(bench)}${quick ? " · a quick run, whose figures mean little" : ""}.`;
    const tables = await bench.run(quick, (text) => console.error(`${name}: ${text}`));
    const text = [machine, ...tables.map(render)].join("\n\n");
    console.log(`\n${text}\n`);
    if (write) writeSection(name, text);
  }
}

main().catch((error: Error) => {
  console.error(`fleetgate bench: ${error.message}`);
  process.exitCode = 1;
});
