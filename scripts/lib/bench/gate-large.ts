import type { BenchFleet } from "./gate-fleet.ts";
import type { HttpCaller } from "./http.ts";
import { at } from "./load.ts";
import type { Rooms } from "./rooms.ts";
import { show, type Table, whole } from "./table.ts";

const LIMIT_MS = 200;

/** The calls that read a whole fleet, one after the other through the Worker. */
export async function benchLarge({ fleets }: Rooms, { call }: HttpCaller, fleet: BenchFleet): Promise<Table> {
  const base = `/v1/fleets/${fleet.name}`;
  const rows: string[][] = [];
  async function time(name: string, times: number, operate: (turn: number) => Promise<unknown>, pauseMs = 0) {
    const took: number[] = [];
    let failed = 0;
    for (let turn = 0; turn < times; turn++) {
      const sentAt = performance.now();
      await operate(turn).catch(() => failed++);
      took.push(performance.now() - sentAt);
      if (pauseMs) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    took.sort((one, other) => one - other);
    const slowest = took.at(-1) ?? 0;
    rows.push([name, show(at(took, 0.5)), show(slowest), failed === 0 && slowest <= LIMIT_MS ? "yes" : "NO"]);
  }
  const leases: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const body = { ...fleet.pod(turn), class: "high", wait_ms: 0, attempt: 0 };
    const answer = await fleets.acquire(fleet.name, body, new AbortController().signal);
    if (answer.granted) leases.push(answer.lease.id);
  }
  // A status of a large fleet is remembered for a second, so each is asked after that.
  await time("status", 8, () => call("GET", base), 1_100);
  await time("pods, a page of 100", 10, (turn) =>
    call("GET", `${base}/pods?limit=100&cursor=${cursor(turn)}`),
  );
  await time("release", 20, (turn) => call("POST", `${base}/release`, { leases: [leases[turn]] }));
  await time("leave", 10, (turn) => call("POST", `${base}/leave`, fleet.pod(turn)));
  return {
    title: `Calls on a fleet of ${whole(fleet.size)} live pods and half as many leases, through the Worker`,
    head: ["call", "p50 ms", "slowest ms", `within ${LIMIT_MS} ms`],
    rows,
  };
}

const cursor = (turn: number) => btoa(`c${turn % 4}/worker-${turn * 1_000}`);
