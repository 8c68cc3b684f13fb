import type { CaseComparison } from "#api/benchmark-comparison.ts";
import { benjaminiHochberg } from "#statistics/benjamini-hochberg.ts";

/** Of the changes of noisy metrics that a comparison tells, so many may be false. */
const falseDiscoveries = 0.05;

/**
 * Who looks at a thousand cases finds one in a thousand. Claims that do not stand out among all that were judged
 * become undecided; a rerun that confirms them adds its own evidence, and may bring them back.
 *
 * `pooledP`: of both runs together, in the cases' order; null where pairs did not judge.
 */
export function adjustForMany(
  cases: readonly CaseComparison[],
  pooledP: readonly (number | null)[],
): CaseComparison[] {
  const judged = pooledP.flatMap((p, index) => (p === null ? [] : [{ p, index }]));
  const adjusted = benjaminiHochberg(judged.map(({ p }) => p));
  const result = [...cases];
  judged.forEach(({ index }, i) => {
    const each = cases[index];
    const adjustedP = adjusted[i] ?? 1;
    if (each?.evidence.by !== "pairs") return;
    const evidence = { ...each.evidence, adjustedP };
    const lost = each.significant && adjustedP > falseDiscoveries;
    result[index] = lost
      ? {
          ...each,
          evidence,
          significant: false,
          relevant: false,
          verdict: "undecided",
          warnings: [...each.warnings, "does not stand out among all cases that were compared"],
        }
      : { ...each, evidence };
  });
  return result;
}
