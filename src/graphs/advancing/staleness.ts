/** The result that a job gives to the jobs that wait for it. */
interface Source {
  /** The outcome and a digest of the outputs of its newest finished run. Empty when it never ran. */
  readonly yield: string;
  readonly stale: boolean;
}

/**
 * Whether a job that has run used something that the awaited job no longer gives.
 *
 * `taken` is the yield that it used; null when it has not run. A retrigger that gives
 * the same again therefore makes nothing stale, whatever the number of its run.
 */
export function isEdgeStale(taken: string | null, source: Source): boolean {
  return taken !== null && (taken !== source.yield || source.stale);
}
