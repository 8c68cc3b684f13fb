import type { Ancestor } from "./artifact.store.ts";

/** As far back as rustc-perf looks for commits of its main line. */
export const usualParentDays = 29;
export const mostParents = 30;

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Which of the artifacts that came before have to be asked for, too; the nearest first.
 *
 * The line is followed until something has a result or was asked for: what lies before that is its own business.
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
