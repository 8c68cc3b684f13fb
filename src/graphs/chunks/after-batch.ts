/** An item of a batch that failed. */
interface FailedItem {
  readonly item: string;
  /** The number of failed batches with it, including this one. */
  readonly failures: number;
}

/** The consequences of a failed batch. */
interface AfterFailure {
  /** Items to try again; each list becomes one batch. */
  readonly again: readonly (readonly string[])[];
  /** These items have no retries left; the job fails with them. */
  readonly failed: readonly string[];
}

/**
 * Decides about the items of a failed batch.
 *
 * It is unknown which of them caused the failure, so the batch is split in halves and tried again, down to the item
 * that fails alone. That item fails the job when its retries are used up; the others continue. Halving does not count
 * as a retry, so a good item is not given up because of others. With no retries allowed, nothing is tried again.
 */
export function afterFailure(items: readonly FailedItem[], retries: number): AfterFailure {
  const names = items.map(({ item }) => item);
  if (retries === 0) return { again: [], failed: names };
  const [only, ...others] = items;
  if (only === undefined) return { again: [], failed: [] };
  if (others.length === 0) {
    return only.failures > retries ? { again: [], failed: names } : { again: [names], failed: [] };
  }
  const half = Math.ceil(names.length / 2);
  return { again: [names.slice(0, half), names.slice(half)], failed: [] };
}
