import type { TestCase } from "#core/test-case.ts";
import type { Suite } from "./suite.ts";

/**
 * Returns the category of a benchmark: `primary` ones represent real use. A benchmark that the suite no longer contains
 * is secondary.
 */
export function categoryOf(
  suite: Suite,
  { section, benchmark }: Pick<TestCase, "section" | "benchmark">,
): "primary" | "secondary" {
  const benchmarks = suite[section]?.benchmarks ?? {};
  return (
    (Object.hasOwn(benchmarks, benchmark) ? benchmarks[benchmark]?.category : undefined) ??
    "secondary"
  );
}
