/**
 * Group commit: returns a function that resolves when everything written before its call is durable.
 *
 * `sync` makes all writes durable that ended before it began. All callers that arrive during a sync share the next one,
 * so that many simultaneous writers need few syncs. A failed sync fails for all its callers.
 */
export function syncTogether(sync: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  return () => {
    next ??= running.then(() => {
      next = undefined;
      const mine = sync();
      running = mine.catch(() => {});
      return mine;
    });
    return next;
  };
}
