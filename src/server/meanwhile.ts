/**
 * Returns a function that gives the last value of `make`, and refreshes it in the background once it is `ms` old.
 *
 * For values that take long to make and may be old. A caller waits only for the first value, after a pause of `mostMs`,
 * or when the value `isWrong`. When `make` fails, the old value stays, and the next call tries again.
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
