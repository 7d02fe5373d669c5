/** A clock that stands still while anybody works and jumps to the next event when all sleep. */
export interface SimTime {
  now(): number;
  /** Sleeps in simulated time; only for actors, each doing one thing at a time. */
  sleep(ms: number): Promise<void>;
  /** Starts an actor `afterMs` from now; one that rejects ends the simulation. */
  spawn(afterMs: number, actor: () => Promise<void>): void;
  /** Runs events, one after the other, until that time. */
  runUntil(at: number): Promise<void>;
}

interface Event {
  at: number;
  turn: number;
  wake(): void;
}

/** Makes a simulated clock that starts at `start` (epoch ms). */
export function makeSimTime(start: number): SimTime {
  const events: Event[] = [];
  let now = start;
  let turn = 0;
  let working = 0;
  let failure: unknown;
  let allAsleep = () => {};

  const fallAsleep = () => {
    working--;
    if (working === 0) allAsleep();
  };
  const schedule = (ms: number, wake: () => void) =>
    push(events, { at: now + Math.max(0, ms), turn: turn++, wake });

  return {
    now: () => now,
    sleep: (ms) =>
      new Promise((resolve) => {
        schedule(ms, resolve);
        fallAsleep();
      }),
    spawn(afterMs, actor) {
      schedule(afterMs, () => {
        actor()
          .catch((error: unknown) => {
            failure ??= error;
          })
          .finally(fallAsleep);
      });
    },
    async runUntil(end) {
      for (let next = events[0]; next !== undefined && next.at <= end; next = events[0]) {
        pop(events);
        now = next.at;
        working++;
        const asleep = new Promise<void>((resolve) => {
          allAsleep = resolve;
        });
        next.wake();
        await asleep;
        if (failure) throw failure;
      }
      now = end;
    },
  };
}

const isBefore = (one: Event, other: Event) =>
  one.at < other.at || (one.at === other.at && one.turn < other.turn);

/** Adds to a binary heap whose first is the earliest. */
function push(heap: Event[], event: Event): void {
  let place = heap.push(event) - 1;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent];
    if (!above || !isBefore(event, above)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = event;
}

function pop(heap: Event[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let place = 0;
  for (;;) {
    const left = heap[2 * place + 1];
    const right = heap[2 * place + 2];
    const child = right && left && isBefore(right, left) ? right : left;
    if (!child || !isBefore(child, last)) break;
    heap[place] = child;
    place = child === left ? 2 * place + 1 : 2 * place + 2;
  }
  heap[place] = last;
}
