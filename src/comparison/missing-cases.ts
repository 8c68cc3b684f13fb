import type { MissingCase } from "#api/benchmark-comparison.ts";
import type { ArtifactsToCompare, BenchmarkFailure } from "./artifacts-to-compare.ts";
import type { MatchedCase } from "./match-cases.ts";

type Errors = ArtifactsToCompare["errors"];

/** Returns the entry of a case that one side lacks, with the reason if it is known. */
export function missingCase(
  matched: MatchedCase,
  missing: MissingCase["missing"],
  errors: Errors,
): MissingCase {
  const failures = errors[missing];
  const why =
    failures.find((each) => each.case === matched.key) ??
    failures.find((each) => each.case === null && each.benchmark === matched.case.benchmark) ??
    failures.find((each) => each.case === null && each.benchmark === "");
  return { case: matched.case, missing, error: why?.message ?? null };
}

/** Returns cases for which one side has no data at all. */
export function missingAltogether(matched: readonly MatchedCase[], errors: Errors): MissingCase[] {
  return matched.flatMap((each) => {
    if (each.pairs.length > 0) return [];
    if (each.before.length === 0) return [missingCase(each, "before", errors)];
    if (each.after.length === 0) return [missingCase(each, "after", errors)];
    return [];
  });
}

/**
 * Returns benchmarks that fail on the later side and did not fail on the earlier side, each once.
 */
export function newlyBroken(errors: Errors): { benchmark: string; message: string }[] {
  const known = new Set(errors.before.map(({ benchmark }) => benchmark));
  const first = new Map<string, BenchmarkFailure>();
  for (const each of errors.after) {
    if (!known.has(each.benchmark) && !first.has(each.benchmark)) first.set(each.benchmark, each);
  }
  return [...first.values()].map(({ benchmark, message }) => ({ benchmark, message }));
}
