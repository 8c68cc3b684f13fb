/**
 * Returns what the promise does, unless the signal is aborted first: then rejects with the signal's reason.
 *
 * The work behind the promise is not stopped by this, and its failure after that is ignored.
 */
export function untilAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    const settled = () => signal.removeEventListener("abort", abort);
    work.then(resolve, reject).finally(settled);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
