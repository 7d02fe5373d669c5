/** A set of things under way that can be waited for. */
export interface Activity<T> {
  add(item: T): void;
  delete(item: T): void;
  all(): T[];
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Makes an empty set of things under way. */
export function createActivity<T>(): Activity<T> {
  const items = new Set<T>();
  let waiting: (() => void)[] = [];
  return {
    add: (item) => {
      items.add(item);
    },
    delete: (item) => {
      items.delete(item);
      if (items.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    all: () => [...items],
    idle: () =>
      new Promise((resolve) => {
        if (items.size === 0) resolve();
        else waiting.push(resolve);
      }),
  };
}
