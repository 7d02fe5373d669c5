import type { World } from "./world.ts";

type Fields = Record<string, unknown>;

/** Short forms of the calls of one limit. */
export function limitOf(world: World, name = "gpu") {
  const base = `/v1/limits/${name}`;
  return {
    world,
    /** A token bucket, unless the fields say otherwise. */
    set: (fields: Fields) => world.put(base, { algorithm: "token_bucket", ...fields }),
    get: () => world.get(base),
    remove: () => world.call("DELETE", base),
    take: (fields: Fields = {}) => world.post(`${base}/take`, fields),
    settle: (fields: Fields) => world.post(`${base}/settle`, fields),
    peek: (key = "default") => world.get(`${base}/keys/${encodeURIComponent(key)}`),
    /** Takes until refused; gives how many were allowed. */
    async drain(fields: Fields = {}): Promise<number> {
      for (let taken = 0; ; taken++) {
        const { status, body } = await world.post(`${base}/take`, fields);
        if (status !== 200) throw new Error(`not answered: ${status} ${JSON.stringify(body)}`);
        if (!body.allowed) return taken;
      }
    },
  };
}

export type TestLimit = ReturnType<typeof limitOf>;
