/** Limits for items that share a call. */
interface BatchLimits {
  readonly mostBytes: number;
  readonly mostItems: number;
}

/** Does something for one item, in one batch with all concurrent items. */
export type Batched<Item, Result> = (item: Item) => Promise<Result>;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Batches the items of one turn of the event loop.
 *
 * `run` returns an answer for each item, in their order; when it throws, all items fail. An item over `mostBytes` gets
 * its own batch.
 */
export function batched<Item, Result>(
  limits: BatchLimits,
  bytesOf: (item: Item) => number,
  run: (items: readonly Item[]) => Promise<readonly (() => Result)[]>,
): Batched<Item, Result> {
  let batch: Waiting<Item, Result>[] = [];
  let bytes = 0;

  const flush = () => {
    const full = batch;
    batch = [];
    bytes = 0;
    if (full.length > 0) void settle(full);
  };
  const settle = async (waiting: readonly Waiting<Item, Result>[]) => {
    try {
      const answers = await run(waiting.map(({ item }) => item));
      waiting.forEach(({ resolve, reject }, at) => {
        try {
          const answer = answers[at];
          if (answer === undefined) throw new Error("a batch was answered in part");
          resolve(answer());
        } catch (reason) {
          reject(reason);
        }
      });
    } catch (reason) {
      for (const { reject } of waiting) reject(reason);
    }
  };

  return (item) =>
    new Promise((resolve, reject) => {
      const size = bytesOf(item);
      if (bytes + size > limits.mostBytes || batch.length === limits.mostItems) flush();
      if (batch.length === 0) setImmediate(flush);
      batch.push({ item, resolve, reject });
      bytes += size;
    });
}
