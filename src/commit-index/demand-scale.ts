/**
 * The time between two requests of a build that finds everything, in ms: dune requested 3,157 results in 1.9 s, and 563
 * in 0.3 s. Other tools are slower.
 */
const msOfHit = 0.5;

interface PastDemand {
  readonly firstMs: number;
  readonly savedMs: number;
  readonly confidence: number;
}

/**
 * How much faster than the builds of an index a build asks for which everything is there: from 0 (at once) to 1.
 *
 * An index's times come from builds that may have found nothing, and made everything. What they made is not
 * made again, and takes its time off the clock. How many things were made at a time nobody has noted; when making
 * them took longer in all than the whole build, the build did nothing else, and they ran side by side. So:
 *
 *     build of hits = what is left of the index's build without what it made; at least 0.5 ms a result
 *
 * Of an index that comes from a build of hits already this is 1, or little less, as such a build asks no slower.
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

/** The same scale from the requests of a running build; undefined before there are enough. */
export function observedScale(
  requests: readonly { readonly firstMs: number; readonly atMs: number }[],
): number | undefined {
  const ratios = requests.filter(({ firstMs }) => firstMs > 0).map((one) => one.atMs / one.firstMs);
  if (ratios.length < 8) return undefined;
  ratios.sort((one, other) => one - other);
  return ratios[ratios.length >> 1];
}
