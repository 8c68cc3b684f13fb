import type { RequestedSizeClasses } from "./requested-size-classes.ts";
import type { ChosenSize } from "./size-class-roles.ts";

/** About 24 days; longer than anything is expected to take. */
const longestMs = 2 ** 31 - 1;

/**
 * Returns a choice that the queue can store; undefined for one outside of the requested range.
 *
 * For any result of a strategy: a row that the database refuses must not prevent the submission or the end of an
 * execution: the report would be repeated forever.
 */
export function soundChoice(
  chosen: ChosenSize,
  bounds: RequestedSizeClasses & { readonly timeoutMs: number },
): ChosenSize | undefined {
  const { sizeClass, hedge } = chosen;
  if (!isWithin(sizeClass, bounds)) return undefined;
  const timeoutMs = wholeWithin(chosen.timeoutMs, 1, bounds.timeoutMs);
  const isHedged =
    hedge !== undefined && isWithin(hedge.sizeClass, bounds) && hedge.sizeClass > sizeClass;
  const { draw } = chosen.decision;
  return {
    ...chosen,
    timeoutMs,
    expectedDurationMs: wholeWithin(chosen.expectedDurationMs, 0, longestMs),
    hedge: isHedged
      ? { ...hedge, afterMs: wholeWithin(hedge.afterMs, 1, bounds.timeoutMs) }
      : undefined,
    decision: { ...chosen.decision, draw: Number.isFinite(draw) ? draw : 0 },
  };
}

function isWithin(sizeClass: number, { least, most = Infinity }: RequestedSizeClasses): boolean {
  return Number.isInteger(sizeClass) && sizeClass >= least && sizeClass <= most;
}

/** A value that is no number counts as the most. */
function wholeWithin(value: number, least: number, most: number): number {
  if (Number.isNaN(value)) return most;
  return Math.min(most, Math.max(least, Math.round(value)));
}
