/** A promise and the two ways to settle it. */
export interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Makes a promise to be settled from outside (Promise.withResolvers came with Node 22 only); it may reject unheard. */
export function deferred(): Deferred {
  let settle = {} as Omit<Deferred, "promise">;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...settle };
}
