import { z } from "zod";

/** The subject of a benchmark: the compiler's work, its output, or the toolchain itself. */
export const Section = z.enum(["compile", "runtime", "toolchain"]);
export type Section = z.infer<typeof Section>;

/**
 * The name of a benchmark, profile, scenario, backend or target in a suite. It becomes a part of paths and addresses.
 */
export const SuiteWord = z
  .string()
  .regex(/^[A-Za-z0-9@][A-Za-z0-9@._+-]{0,79}(\/[A-Za-z0-9][A-Za-z0-9._+-]{0,79})?$/, {
    error: "letters, digits and . _ + - @, at most 80, with at most one / inside",
  });

/**
 * The identity of a figure: all six fields together, in tables, addresses and comparisons. Seed 001 omits some of them
 * for runtime benchmarks; here they are empty instead.
 */
export const TestCase = z.object({
  section: Section,
  benchmark: SuiteWord,
  profile: SuiteWord.or(z.literal("")),
  scenario: SuiteWord.or(z.literal("")),
  backend: SuiteWord,
  target: SuiteWord,
});
export type TestCase = z.infer<typeof TestCase>;

/** Returns the same text for equal cases, for maps and addresses. No word of a suite has a space. */
export function caseKey(testCase: TestCase): string {
  const { section, benchmark, profile, scenario, backend, target } = testCase;
  return [section, benchmark, profile || "-", scenario || "-", backend, target].join(" ");
}

/** Returns undefined when the text is not a case. */
export function caseOfKey(key: string): TestCase | undefined {
  const parts = key.split(" ");
  if (parts.length !== 6) return undefined;
  const [section, benchmark, profile, scenario, backend, target] = parts;
  const read = TestCase.safeParse({
    section,
    benchmark,
    profile: profile === "-" ? "" : profile,
    scenario: scenario === "-" ? "" : scenario,
    backend,
    target,
  });
  return read.success ? read.data : undefined;
}
