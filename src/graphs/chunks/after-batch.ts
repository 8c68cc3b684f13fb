/** An item of a batch that failed. */
export interface FailedItem {
  readonly item: string;
  /** Batches with it that failed, this one included. */
  readonly failures: number;
}

/** What follows from a batch's failure. */
export interface AfterFailure {
  /** Tried again, each list by itself and as it is. */
  readonly again: readonly (readonly string[])[];
  /** Given up; the job fails with them. */
  readonly failed: readonly string[];
}

/**
 * What becomes of the items of a batch that failed.
 *
 * Nobody knows which of them was to blame, so the batch is tried again in halves, down to the
 * item that fails alone. That one fails the job when its budget is used up; the others go on. Halving is
 * not counted: a good item is not given up for its company. Without a budget nothing is tried again.
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
