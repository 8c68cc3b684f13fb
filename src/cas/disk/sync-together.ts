/**
 * Group commit: returns a function that resolves when everything written before its call is durable.
 *
 * `sync` makes all writes durable that ended before it began. All callers who come while one runs share the next, so that
 * many writers at once cost few syncs. A failure is that of all who waited for this sync.
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
