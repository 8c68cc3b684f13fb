/**
 * Maps items with at most `limit` calls at the same time. Returns the results in the order of the items.
 *
 * After a failure no further call starts, and the function waits for the running ones, so that none is left when the
 * caller cleans up.
 */
export async function mapAtMost<Item, Result>(
  limit: number,
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (failures.length === 0 && next < items.length) {
      const index = next++;
      try {
        results[index] = await map(items[index] as Item);
      } catch (failure) {
        failures.push(failure);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
  return results;
}
