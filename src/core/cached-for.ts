/**
 * Returns a function that returns the last value of `make` if it is at most `ms` old. Callers during a call of `make`
 * share it. A failure is not cached.
 */
export function cachedFor<T>(
  ms: number,
  now: () => number,
  make: () => Promise<T>,
): () => Promise<T> {
  let made: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (made !== undefined && now() - made.at < ms) return made.value;
    const fresh = { at: now(), value: make() };
    made = fresh;
    fresh.value.catch(() => {
      if (made === fresh) made = undefined;
    });
    return fresh.value;
  };
}
