import { Fault } from "#core/fault.ts";

/** Runs work one after the other; callers that request the same work before it begins share one run. */
interface SharedTurns {
  /**
   * Runs `work` after all earlier work of the queue, and returns its result. Callers that use the same `name` before
   * the work has begun get the same result. Callers after that do not, because the running work may have seen an older
   * state.
   *
   * A signal ends one caller's wait, with its reason. The work itself is aborted when no caller waits for it any more.
   */
  run<T>(
    turn: { readonly queue: string; readonly name: string },
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
}

interface Shared {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  waiting: number;
}

export function sharedTurns(): SharedTurns {
  /** The end of the last work of each queue. */
  const ends = new Map<string, Promise<unknown>>();
  /** Work that has not started, by queue and name. */
  const notBegun = new Map<string, Shared>();

  function begin(
    queue: string,
    key: string,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Shared {
    const controller = new AbortController();
    const inTurn = async () => {
      notBegun.delete(key);
      controller.signal.throwIfAborted();
      return work(controller.signal);
    };
    const result = (ends.get(queue) ?? Promise.resolve()).then(inTurn);
    const over = result.catch(() => {});
    ends.set(queue, over);
    void over.then(() => {
      if (ends.get(queue) === over) ends.delete(queue);
    });
    const shared = { result, controller, waiting: 0 };
    notBegun.set(key, shared);
    return shared;
  }

  return {
    async run<T>(
      { queue, name }: { readonly queue: string; readonly name: string },
      work: (signal: AbortSignal) => Promise<T>,
      signal?: AbortSignal,
    ): Promise<T> {
      signal?.throwIfAborted();
      const key = JSON.stringify([queue, name]);
      const shared = notBegun.get(key) ?? begin(queue, key, work);
      shared.waiting += 1;
      const leaving = whenAborted(signal);
      try {
        return (await Promise.race([shared.result, leaving.happened])) as T;
      } finally {
        leaving.ignore();
        shared.waiting -= 1;
        if (shared.waiting === 0) {
          if (notBegun.get(key) === shared) notBegun.delete(key);
          shared.controller.abort(new Fault("cancelled", "nobody waits for it any more"));
        }
      }
    },
  };
}

/** `happened` rejects with the signal's reason. A signal may live much longer than one wait: `ignore` removes the listener. */
function whenAborted(signal: AbortSignal | undefined) {
  let ignore = () => {};
  const happened = new Promise<never>((_, reject) => {
    const leave = () => reject(signal?.reason as Error);
    signal?.addEventListener("abort", leave, { once: true });
    ignore = () => signal?.removeEventListener("abort", leave);
  });
  return { happened, ignore };
}
