import type { CaseComparison } from "#api/benchmark-comparison.ts";
import { benjaminiHochberg } from "#statistics/benjamini-hochberg.ts";

/** The accepted share of false changes among those that a comparison reports for noisy metrics. */
const falseDiscoveries = 0.05;

/**
 * Adjusts verdicts for the number of cases: among a thousand cases, chance alone shows some changes. Changes that are
 * not significant among all judged cases become undecided; a rerun that confirms them adds evidence, and may restore
 * them.
 *
 * `pooledP`: the p-values of both runs together, in the order of the cases; null for cases not judged by pairs.
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
          warnings: [...each.warnings, "not significant after adjustment for all compared cases"],
        }
      : { ...each, evidence };
  });
  return result;
}
