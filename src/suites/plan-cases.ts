import type { Section, TestCase } from "#core/test-case.ts";
import type { Benchmark, Suite, SuiteSection } from "./suite.ts";

/** The slice of a suite that a job measures. */
export interface JobSlice {
  readonly section: Section;
  readonly target: string;
  readonly backend: string;
  /** Empty when the section has no profiles. */
  readonly profile: string;
  readonly set: number;
  /** Empty: all benchmarks of the set. */
  readonly benchmarks: readonly string[];
}

/**
 * Returns the test cases of a job; the cases of one benchmark are adjacent.
 *
 * Sorted by name and not as written: a definition that was stored in the database has lost the order of its keys.
 */
export function planCases(suite: Suite, slice: JobSlice): TestCase[] {
  const { section: name, target, backend, profile } = slice;
  const section = suite[name];
  if (
    section === undefined ||
    !Object.hasOwn(suite.targets, target) ||
    !Object.hasOwn(suite.backends, backend)
  )
    return [];
  if (!profilesOf(section).includes(profile)) return [];
  return Object.keys(section.benchmarks)
    .toSorted()
    .flatMap((benchmark) => {
      const defined = section.benchmarks[benchmark];
      if (defined === undefined || !isInSlice(name, benchmark, defined, slice)) return [];
      return scenariosOf(section, defined).map((scenario) => ({
        section: name,
        benchmark,
        profile,
        scenario,
        backend,
        target,
      }));
    });
}

/** Returns the profiles of the section, or the one without a name. */
export function profilesOf(section: SuiteSection): string[] {
  const names = Object.keys(section.profiles).toSorted();
  return names.length === 0 ? [""] : names;
}

/** Returns the set of a benchmark: only the compile section is split. */
export function setOf(section: Section, benchmark: Pick<Benchmark, "set">): number {
  return section === "compile" ? benchmark.set : 0;
}

function isInSlice(
  section: Section,
  name: string,
  benchmark: Benchmark,
  { backend, profile, set, benchmarks }: JobSlice,
): boolean {
  return (
    setOf(section, benchmark) === set &&
    (benchmarks.length === 0 || benchmarks.includes(name)) &&
    (benchmark.backends?.includes(backend) ?? true) &&
    (profile === "" || (benchmark.profiles?.includes(profile) ?? true))
  );
}

function scenariosOf(section: SuiteSection, benchmark: Benchmark): string[] {
  const names = Object.keys(section.scenarios).toSorted();
  if (names.length === 0) return [""];
  return names.filter((name) => {
    const patch = section.scenarios[name]?.patch;
    return (
      (benchmark.scenarios?.includes(name) ?? true) &&
      (patch === undefined || Object.hasOwn(benchmark.patches, patch))
    );
  });
}
