/** A cache of the most recently used values, which are expensive to create. */
export interface RecentlyUsed<Value> {
  /** Returns the value of a key; creates it when it is absent. A rejected promise is removed. */
  get(key: string, make: () => Value): Value;
  /** Returns the value of a cached key and marks it as used. */
  peek(key: string): Value | undefined;
  set(key: string, value: Value): void;
  forget(key: string): void;
}

interface Kept<Value> {
  readonly value: Value;
  readonly weight: number;
}

/**
 * A cache that keeps values with a total weight of at most `most`; drops the least recently used first.
 *
 * Each value weighs one, or the result of `weigh`. A promise weighs one until it is fulfilled. A value that alone
 * exceeds the limit is not kept.
 */
export function recentlyUsed<Value>(
  most: number,
  weigh: (value: Awaited<Value>) => number = () => 1,
): RecentlyUsed<Value> {
  // A Map iterates over its keys in the order of insertion: the first is the oldest.
  const kept = new Map<string, Kept<Value>>();
  let total = 0;

  const forget = (key: string) => {
    total -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, value: Value, weight: number) => {
    forget(key);
    if (weight > most) return;
    kept.set(key, { value, weight });
    total += weight;
    for (const oldest of kept.keys()) {
      if (total <= most) return;
      forget(oldest);
    }
  };
  const set = (key: string, value: Value) => {
    if (!(value instanceof Promise)) {
      keep(key, value, weigh(value as Awaited<Value>));
      return;
    }
    keep(key, value, 1);
    const isKept = () => kept.get(key)?.value === value;
    value.then(
      (made: Awaited<Value>) => {
        if (isKept()) keep(key, value, weigh(made));
      },
      () => {
        if (isKept()) forget(key);
      },
    );
  };

  const use = (key: string) => {
    const one = kept.get(key);
    if (one === undefined) return undefined;
    kept.delete(key);
    kept.set(key, one);
    return one;
  };

  return {
    set,
    forget,
    peek: (key) => use(key)?.value,
    get(key, make) {
      const one = use(key);
      if (one !== undefined) return one.value;
      const value = make();
      set(key, value);
      return value;
    },
  };
}
