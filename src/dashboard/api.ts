import type { ProblemBody } from "../problems.ts";
import { hearDate } from "./clock.ts";

const TIMEOUT_MS = 8_000;

/** A call that did not succeed: refused with a problem, or without any answer that can be read. */
export class CallFailed extends Error {
  readonly problem: ProblemBody | undefined;

  constructor(problem?: ProblemBody) {
    super(problem?.detail ?? "no answer");
    this.problem = problem;
  }

  /** True when nothing that is shown can be trusted to be current: no answer, or none from the store. */
  get isOutage(): boolean {
    return !this.problem || this.problem.code === "store-unavailable";
  }

  is(code: ProblemBody["code"]): boolean {
    return this.problem?.code === code;
  }
}

/** Calls the coordinator that served this page. Rejects with CallFailed, or with the reason of an aborted signal. */
export interface Api {
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>;
  send<Answer>(method: "POST" | "PUT", path: string, body: unknown): Promise<Answer>;
}

/** Makes the calls of one key. */
export function makeApi(key: string): Api {
  async function call<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const signals = [AbortSignal.timeout(TIMEOUT_MS), ...(init.signal ? [init.signal] : [])];
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    try {
      const response = await fetch(path, {
        ...init,
        headers,
        cache: "no-store",
        signal: AbortSignal.any(signals),
      });
      hearDate(response.headers.get("date"));
      const body = await response.json();
      if (response.ok) return body as Answer;
      throw new CallFailed(body as ProblemBody);
    } catch (error) {
      init.signal?.throwIfAborted();
      throw error instanceof CallFailed ? error : new CallFailed();
    }
  }
  return {
    get: (path, signal) => call(path, signal ? { signal } : {}),
    send: (method, path, body) => call(path, { method, body: JSON.stringify(body) }),
  };
}

/** A path with its names made safe: `path`/v1/fleets/${name}``. */
export const path = (parts: TemplateStringsArray, ...names: string[]): string =>
  String.raw({ raw: parts }, ...names.map(encodeURIComponent));
