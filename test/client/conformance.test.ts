import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient, ProblemError, UnavailableError } from "../../src/client/index.ts";
import { sleep } from "../../src/client/timers.ts";
import { asExpected, type Case, conformance, replyOf, resultOf } from "./support/conformance.ts";
import { perform } from "./support/conformance-calls.ts";
import { type Seen, startFaultyServer } from "./support/faulty-server.ts";

const { key, timeout_ms: timeoutMs, deadline_ms: deadlineMs } = conformance.client;

describe.concurrent("the TypeScript client and the cases every client runs", () => {
  for (const one of conformance.cases) it(one.name, () => run(one));
});

async function run(one: Case): Promise<void> {
  await using server = await startFaultyServer(async (_, number) => {
    const reply = replyOf(one, number);
    await sleep(reply.delay_ms ?? 0);
    return reply;
  });
  const client = createClient({ url: server.url, key, timeoutMs, deadlineMs });
  const startedAt = performance.now();
  const [result, error] = await perform(client, one.call, one.args).then(
    (value) => [value, undefined],
    (thrown: unknown) => [undefined, thrown],
  );
  const tookMs = performance.now() - startedAt;

  checkRequests(one, server.seen);
  if (one.expect.error === undefined) {
    expect(error).toBeUndefined();
    expect(result).toEqual(resultOf(one));
  } else {
    checkError(one.expect.error, error);
  }
  expect(tookMs).toBeLessThan(one.expect.max_total_ms ?? Number.POSITIVE_INFINITY);
  for (const [index, gapMs] of (one.expect.min_gaps_ms ?? []).entries()) {
    const [before, after] = [server.seen[index], server.seen[index + 1]];
    expect((after?.at ?? 0) - (before?.at ?? 0)).toBeGreaterThanOrEqual(gapMs);
  }
}

function checkRequests(one: Case, seen: Seen[]): void {
  if (one.expect.requests === null) return;
  const expected = one.expect.requests.flatMap(({ times = 1, ...request }) => Array(times).fill(request));
  const bound = new Map<string, string>();
  expect(seen.map((request, n) => asExpected(request, expected[n] ?? {}, bound))).toEqual(
    JSON.parse(JSON.stringify(expected).replaceAll("{key}", key)),
  );
}

function checkError({ kind, ...fields }: NonNullable<Case["expect"]["error"]>, error: unknown): void {
  expect(inspect(error, { depth: 9 })).not.toContain(key);
  if (kind === "argument") {
    expect(error).toBeInstanceOf(TypeError);
    return;
  }
  expect(error).toBeInstanceOf(kind === "problem" ? ProblemError : UnavailableError);
  const { traceId, retryAfterMs, ...rest } = error as ProblemError;
  expect({ ...rest, trace_id: traceId, retry_after_ms: retryAfterMs ?? null }).toMatchObject(fields);
}
