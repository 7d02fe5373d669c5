let ofThisProcess: string | undefined;

/** The id of this run of the process: lower-case hex that sorts by start time, bytewise; made at first use. */
export function processInstance(): string {
  // Not at module scope: in Cloudflare Workers the clock reads 0 there.
  ofThisProcess ??= Date.now().toString(16).padStart(12, "0") + randomHex(10);
  return ofThisProcess;
}

/** A new id for one logical request. */
export function newRequestId(): string {
  return randomHex(16);
}

let tasksMade = 0;

/** A new task id: sorts by time, and by turn within one millisecond, so that tasks of one caller keep their order. */
export function newTaskId(): string {
  const turn = (tasksMade++ % 65_536).toString(16).padStart(4, "0");
  return Date.now().toString(16).padStart(12, "0") + turn + randomHex(8);
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
