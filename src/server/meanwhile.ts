/**
 * Answers what `make` made before, and makes it anew in the background once that is `ms` old.
 *
 * For what takes long and may be old. Only the first to ask waits, and whoever asks after nobody has for
 * `mostMs`, or finds it `isWrong` by now. When making fails, what there is goes on to hold; the next to ask tries again.
 */
export function meanwhile<T>(
  { ms, mostMs }: { readonly ms: number; readonly mostMs: number },
  now: () => number,
  make: () => Promise<T>,
): (isWrong?: (value: T) => boolean) => Promise<T> {
  let made: { readonly at: number; readonly value: T } | undefined;
  let making: Promise<T> | undefined;
  const makeAnew = () => {
    const at = now();
    making ??= make()
      .then((value) => {
        made = { at, value };
        return value;
      })
      .finally(() => {
        making = undefined;
      });
    return making;
  };
  return async (isWrong = () => false) => {
    if (made === undefined || now() - made.at >= mostMs || isWrong(made.value)) return makeAnew();
    if (now() - made.at >= ms) makeAnew().catch(() => {});
    return made.value;
  };
}
