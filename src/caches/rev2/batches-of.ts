import { setImmediate as nextTick } from "node:timers/promises";

/**
 * Yields messages in batches: each batch contains the messages that arrived while the previous batch was processed.
 *
 * Nothing waits for a batch to become full. A consumer that is slower than the source gets larger batches, and so
 * catches up.
 */
export async function* batchesOf<T>(
  messages: AsyncIterable<T>,
  bounds: { readonly most: number; readonly mostWeight: number; weigh(message: T): number },
): AsyncGenerator<T[], void> {
  const source = messages[Symbol.asyncIterator]();
  const ask = () => {
    const asked = source.next();
    // Awaited later; until then its failure must not count as unhandled.
    asked.catch(() => {});
    return asked;
  };
  let next = ask();
  try {
    for (;;) {
      const first = await next;
      if (first.done) return;
      const batch = [first.value];
      let weight = bounds.weigh(first.value);
      next = ask();
      while (batch.length < bounds.most && weight < bounds.mostWeight) {
        const more = await Promise.race([next.catch(() => undefined), nextTick(undefined)]);
        // No message is available yet, or the source ended: the batch is processed first.
        if (more === undefined || more.done) break;
        batch.push(more.value);
        weight += bounds.weigh(more.value);
        next = ask();
      }
      yield batch;
    }
  } finally {
    // Not awaited: a source that waits for its next message ends only with that message, and the sender may be waiting
    // for this error.
    void source.return?.().catch(() => {});
  }
}
