/**
 * Settles like the promise, unless the signal is aborted first: then rejects with the signal's reason.
 *
 * This does not stop the work behind the promise. If that fails later, the failure is ignored.
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
