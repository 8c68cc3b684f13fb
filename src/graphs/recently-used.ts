/** Values that cost something to make, the most recently used of them. */
export interface RecentlyUsed<Value> {
  /** The value of a key, made when it is not here. A promise that fails is forgotten. */
  get(key: string, make: () => Value): Value;
  set(key: string, value: Value): void;
}

/** Keeps at most `most` values; the one that was not asked for longest goes first. */
export function recentlyUsed<Value>(most: number): RecentlyUsed<Value> {
  // A Map walks its keys in the order of insertion: the first is the oldest.
  const values = new Map<string, Value>();
  const set = (key: string, value: Value) => {
    values.delete(key);
    values.set(key, value);
    const [oldest] = values.keys();
    if (values.size > most && oldest !== undefined) values.delete(oldest);
  };
  return {
    set,
    get(key, make) {
      const value = values.get(key) ?? make();
      set(key, value);
      if (value instanceof Promise) {
        value.catch(() => {
          if (values.get(key) === value) values.delete(key);
        });
      }
      return value;
    },
  };
}
