/**
 * The time between two requests of a build with only hits, in ms: dune requested 3,157 results in 1.9 s, and 563 in 0.3
 * s. Other tools are slower.
 */
const msOfHit = 0.5;

interface PastDemand {
  readonly firstMs: number;
  readonly savedMs: number;
  readonly confidence: number;
}

/**
 * Returns the factor for the times of an index's requests in a build that has only hits: from 0 (all at once) to 1 (as
 * fast as the index's builds).
 *
 * An index's times come from builds that may have had only misses. Hits do not repeat that work, so its time
 * is subtracted. The parallelism of that work is not recorded; when its total exceeds the duration of the build,
 * the work is assumed to have filled the whole build in parallel. So:
 *
 *     build of hits = the index's build minus the work for its misses; at least 0.5 ms per result
 *
 * For an index from a build that already had only hits, the factor is 1 or slightly less.
 */
export function demandScale(past: readonly PastDemand[], parallelism?: number): number {
  let buildMs = 0;
  let madeMs = 0;
  for (const { firstMs, savedMs, confidence } of past) {
    buildMs = Math.max(buildMs, firstMs);
    madeMs += savedMs * confidence;
  }
  if (buildMs === 0) return 1;
  const atATime = Math.max(1, parallelism ?? madeMs / buildMs);
  const hitBuildMs = Math.max(past.length * msOfHit, buildMs - madeMs / atATime);
  return Math.min(1, hitBuildMs / buildMs);
}

/** Returns the same factor, from the requests of a running build; undefined before there are enough. */
export function observedScale(
  requests: readonly { readonly firstMs: number; readonly atMs: number }[],
): number | undefined {
  const ratios = requests.filter(({ firstMs }) => firstMs > 0).map((one) => one.atMs / one.firstMs);
  if (ratios.length < 8) return undefined;
  ratios.sort((one, other) => one - other);
  return ratios[ratios.length >> 1];
}
