import { expect, inject, test } from "vitest";
import { fill, openQueue, queueOf, type TestQueue } from "../support/queue.ts";
import { Random } from "../support/random.ts";

const TASKS = 1_000;
const WORKERS = 8;

test("with answers lost and workers killed, each of a thousand tasks is completed exactly once", async () => {
  const seed = inject("seed");
  const random = new Random(seed);
  const room = await openQueue(200, { lease_ttl_ms: 2_000, max_deliveries: 50 });
  const { world, queue, fleet } = room;
  await fill(queue, TASKS);

  const isolates = Array.from({ length: WORKERS }, () => queueOf(world.isolate()));
  const lossy = isolates.map(() => queueOf(world.faulty("truncated", "timers").isolate));
  const completed = new Map<string, number>();
  const lost: number[] = [];
  let [killed, redelivered] = [0, 0];

  async function work(through: TestQueue, deaf: TestQueue, pod: string): Promise<void> {
    const call = { pod, max: 10, ...(random.chance(0.5) ? { request_id: crypto.randomUUID() } : {}) };
    let claimed = await (random.chance(0.2) ? deaf : through).claim(call);
    if (claimed.status === 503) {
      lost.push(1);
      // Without a request_id nobody knows what was taken: it comes back when its leases lapse.
      if (!call.request_id) return;
      claimed = await through.claim(call);
    }
    expect(claimed.status).toBe(200);
    if (random.chance(0.2)) {
      killed += 1;
      return;
    }
    for (const { id, delivery, lease } of claimed.body.tasks) {
      if (delivery > 1) redelivered += 1;
      let { status, body } = await (random.chance(0.1) ? deaf : through).complete(lease.id);
      if (status === 503) ({ status, body } = await through.complete(lease.id));
      if (status === 200) completed.set(id, (completed.get(id) ?? 0) + 1);
      else expect(body.code).toBe("stale-lease");
    }
  }

  for (let round = 0; completed.size < TASKS && round < 200; round++) {
    await Promise.all(isolates.map((one, at) => work(one, lossy[at] ?? one, `w${at}-${round}`)));
    world.advance(random.int(100, 900));
  }

  const account = `FLEETGATE_SEED=${seed}`;
  expect([...completed.keys()], account).toHaveLength(TASKS);
  expect(
    [...completed.values()].filter((times) => times > 1),
    account,
  ).toEqual([]);
  expect(Math.min(lost.length, killed, redelivered)).toBeGreaterThan(5);
  world.advance(2_000);
  expect(await queue.status()).toMatchObject({ ready: 0, delayed: 0, in_flight: 0, dead: 0 });
  expect(await fleet.status()).toMatchObject({ busy: 0 });
}, 60_000);
