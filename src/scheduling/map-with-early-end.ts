import { mapAtMost } from "./map-at-most.ts";

/**
 * Maps items like `mapAtMost`, but a call whose `endEarly` was called no longer counts towards the limit. Its result is
 * awaited all the same.
 *
 * For work whose last part needs nothing that is scarce, for example waiting for a sync that all items share: the
 * items do not wait for it one after the other.
 */
export async function mapWithEarlyEnd<Item, Result>(
  limit: number,
  items: readonly Item[],
  map: (item: Item, endEarly: () => void) => Promise<Result>,
): Promise<Result[]> {
  const running: Promise<Result>[] = [];
  const started = mapAtMost(limit, [...items.entries()], ([index, item]) => {
    return new Promise<void>((resolve, reject) => {
      const result = map(item, resolve);
      running[index] = result;
      result.then(() => resolve(), reject);
    });
  });
  const [outcome] = await Promise.allSettled([started]);
  // Also after a failure, so that no call is left when the caller cleans up.
  await Promise.allSettled(running);
  if (outcome.status === "rejected") throw outcome.reason;
  return Promise.all(running);
}
