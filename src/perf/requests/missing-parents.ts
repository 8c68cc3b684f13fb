import type { Ancestor } from "./artifact.store.ts";

/** The number of days, like rustc-perf's limit for commits of its main line. */
export const defaultParentDays = 29;
export const mostParents = 30;

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Returns which earlier artifacts have to be requested, too; the nearest first.
 *
 * The search continues along the line until an artifact has a result or was requested: earlier ones belong to that
 * request.
 */
export function missingParents(
  child: { readonly datedAt: Date },
  ancestors: readonly Ancestor[],
  days: number,
  canBeMeasured: (artifact: Ancestor) => boolean,
): Ancestor[] {
  const notBefore = child.datedAt.getTime() - days * dayMs;
  const end = ancestors.findIndex(
    (each) =>
      each.hasResults ||
      each.hasRequest ||
      each.datedAt.getTime() < notBefore ||
      !canBeMeasured(each),
  );
  return ancestors.slice(0, Math.min(end === -1 ? ancestors.length : end, mostParents));
}
