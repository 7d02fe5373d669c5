import type { Stack } from "./stack.ts";

/** Calls of a running stack in short forms, to set up what a picture or a test shows. */
export function sceneOf({ url, key }: Pick<Stack, "url" | "key">) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  async function call<Answer = Record<string, never>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer> {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }
  const post = <Answer>(path: string, body: unknown) => call<Answer>("POST", path, body);
  return {
    call,
    post,
    put: (path: string, body: unknown) => call("PUT", path, body),
    /** `count` pods of a cluster beat. */
    beat: (fleet: string, cluster: string, count: number, first = 0) =>
      post(`/v1/fleets/${fleet}/heartbeats`, {
        cluster,
        pods: Array.from({ length: count }, (_, at) => ({ pod: `worker-${first + at}`, instance: "01J8Z" })),
      }),
    /** The first `count` pods of a cluster take a slot each; gives the leases' ids. */
    async acquire(fleet: string, cluster: string, count: number, more: Record<string, unknown> = {}) {
      const ids: string[] = [];
      for (let at = 0; at < count; at++) {
        const body = { cluster, pod: `worker-${at}`, instance: "01J8Z", ...more };
        const { lease } = await post<{ lease?: { id: string } }>(`/v1/fleets/${fleet}/acquire`, body);
        if (lease) ids.push(lease.id);
      }
      return ids;
    },
  };
}
