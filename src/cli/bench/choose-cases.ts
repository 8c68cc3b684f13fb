import { Section, type TestCase } from "#core/test-case.ts";
import { planCases } from "#suites/plan-cases.ts";
import { planJobs } from "#suites/plan-jobs.ts";
import type { Suite } from "#suites/suite.ts";
import { UsageError } from "../usage-error.ts";

/** The requested cases; empty: the suite's default cases. */
interface RequestedCases {
  readonly sections: readonly string[];
  readonly backends: readonly string[];
  readonly profiles: readonly string[];
  readonly scenarios: readonly string[];
  readonly benchmarks: readonly string[];
}

/**
 * Pure. A word that the suite does not have is refused with a list of its words: without an error it would look like
 * success.
 */
export function chooseCases(
  suite: Suite,
  target: string,
  available: readonly string[],
  wanted: RequestedCases,
): TestCase[] {
  const inSections = (names: (section: NonNullable<Suite["compile"]>) => object) =>
    Section.options.flatMap((name) => (suite[name] ? Object.keys(names(suite[name])) : []));
  known(
    "section",
    wanted.sections,
    Section.options.filter((name) => suite[name] !== undefined),
  );
  known("backend", wanted.backends, Object.keys(suite.backends));
  known(
    "profile",
    wanted.profiles,
    inSections(({ profiles }) => profiles),
  );
  known(
    "scenario",
    wanted.scenarios,
    inSections(({ scenarios }) => scenarios),
  );
  known(
    "benchmark",
    wanted.benchmarks,
    inSections(({ benchmarks }) => benchmarks),
  );
  const { backends, profiles, benchmarks } = wanted;
  const jobs = planJobs(suite, { backends, profiles, benchmarks, available, targets: [target] });
  return jobs
    .filter(({ section }) => wanted.sections.length === 0 || wanted.sections.includes(section))
    .flatMap((job) => planCases(suite, job))
    .filter(({ profile, scenario }) => {
      // A request that names a profile or a scenario excludes sections without any.
      const fits = (names: readonly string[], name: string) =>
        names.length === 0 || names.includes(name);
      return fits(profiles, profile) && fits(wanted.scenarios, scenario);
    });
}

function known(what: string, requested: readonly string[], names: readonly string[]): void {
  const unknown = requested.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const list = [...new Set(names)].toSorted().join(", ");
  throw new UsageError(
    `the suite has no ${what} ${unknown}; it has ${list === "" ? "none" : list}`,
  );
}
