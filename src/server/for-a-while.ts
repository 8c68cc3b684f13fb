/** Answers what `make` made at most `ms` ago; those who ask while it is made share it. A failure is not kept. */
export function forAWhile<T>(
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
