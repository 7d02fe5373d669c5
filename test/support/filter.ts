import type { World } from "./world.ts";

type Fields = Record<string, unknown>;

/** Short forms of the calls of one filter. */
export function filterOf(world: World, name = "known") {
  const base = `/v1/filters/${name}`;
  return {
    set: (fields: Fields = {}) => world.put(base, { capacity: 1_000, error_rate: 0.01, ...fields }),
    get: () => world.get(base),
    remove: () => world.call("DELETE", base),
    add: async (...items: string[]) => (await world.post(`${base}/add`, { items })).body.added,
    check: async (...items: string[]): Promise<boolean[]> =>
      (await world.post(`${base}/check`, { items })).body.present,
    guard: (fields: Fields) => world.post(`${base}/guard`, fields),
    rotate: () =>
      world.send(`${base}/rotate`, { method: "POST", headers: { authorization: "Bearer admin-key" } }),
  };
}

export type TestFilter = ReturnType<typeof filterOf>;

/** Names of their own, `count` of them. */
export const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${kind}-${at}`);
