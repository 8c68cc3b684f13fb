import { Fault } from "./fault.ts";

/** Processes a batch atomically; returns the results in the order of the items, or throws without any effect. */
type Flush<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

export interface Coalescer<Item, Answer> {
  /** Resolves when the batch with the item is processed. */
  add(item: Item): Promise<Answer>;
  /** Resolves when no item waits and no batch is in progress. Items that are added later are still processed. */
  idle(): Promise<void>;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Group commit: items that arrive while a batch is committed go into the next batch.
 *
 * Without `everyMs`, an item never waits for others to arrive, so a single item is as fast as without it; under load,
 * all items of a batch share the cost of one commit. When a batch fails, its items are tried one by one, so that only
 * the faulty one fails; if the database cannot be reached, they all fail.
 */
export function coalescer<Item, Answer>(
  flush: Flush<Item, Answer>,
  /** The highest number of items in a batch. */
  most = 1_000,
  /**
   * The shortest time between the starts of two batches, in ms; a full batch starts at once. For items whose answers
   * nobody needs soon: the first one after a quiet time does not wait.
   */
  everyMs = 0,
): Coalescer<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let running: Promise<void> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** The number of callers of `idle`, for whom nothing is delayed. */
  let hurrying = 0;
  let endPause = () => {};

  /** Waits until the next batch may start. */
  const pause = (): Promise<void> => {
    const leftMs = startedAt + everyMs - performance.now();
    if (leftMs <= 0 || hurrying > 0 || waiting.length >= most) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, leftMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };

  const run = async () => {
    while (waiting.length > 0) {
      // At least one turn, so that items that are added in the same turn of the event loop share a batch.
      await pause();
      startedAt = performance.now();
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await settle(batch);
    }
    running = undefined;
  };

  const settle = async (batch: readonly Waiting<Item, Answer>[]): Promise<void> => {
    try {
      const answers = await flush(batch.map(({ item }) => item));
      if (answers.length !== batch.length) {
        throw new RangeError(`a flush of ${batch.length} gave ${answers.length} answers`);
      }
      batch.forEach(({ resolve }, i) => resolve(answers[i] as Answer));
    } catch (reason) {
      const isHopeless = reason instanceof Fault && reason.code === "unavailable";
      if (batch.length === 1 || isHopeless) for (const { reject } of batch) reject(reason);
      else for (const each of batch) await settle([each]);
    }
  };

  return {
    add(item) {
      return new Promise<Answer>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (waiting.length >= most) endPause();
        running ??= run();
      });
    },
    async idle() {
      hurrying++;
      endPause();
      try {
        await running;
      } finally {
        hurrying--;
      }
    },
  };
}
