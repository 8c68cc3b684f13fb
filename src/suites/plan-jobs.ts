import type { Section } from "#core/test-case.ts";
import { type JobSlice, planCases, profilesOf, setOf } from "./plan-cases.ts";
import type { Suite, SuiteSection } from "./suite.ts";

/** The request for an artifact. Empty lists mean the suite's usual choice. */
export interface WhatToMeasure {
  readonly backends: readonly string[];
  readonly profiles: readonly string[];
  readonly targets: readonly string[];
  readonly benchmarks: readonly string[];
  /** The backends that the artifact has. */
  readonly available: readonly string[];
}

export interface PlannedJob extends JobSlice {
  /** Whether other work may continue without it. */
  readonly optional: boolean;
}

const sections: readonly Section[] = ["compile", "runtime", "toolchain"];

/**
 * Returns the jobs that measure the requested cases: one for each section, target, backend, profile and set that has a
 * case.
 *
 * Requested profiles do not affect sections without profiles, which concern the artifact as a whole.
 */
export function planJobs(suite: Suite, wanted: WhatToMeasure): PlannedJob[] {
  const targets = chosen(wanted.targets, Object.keys(suite.targets));
  const backends = chosen(
    wanted.backends,
    Object.keys(suite.backends).filter((name) => suite.backends[name]?.default),
  ).filter((name) => wanted.available.includes(name));
  return sections.flatMap((name) => {
    const section = suite[name];
    if (section === undefined) return [];
    return targets.flatMap((target) =>
      backends.flatMap((backend) =>
        profilesRequested(section, wanted.profiles).flatMap((profile) =>
          jobsOfSets(suite, name, { target, backend, profile, benchmarks: wanted.benchmarks }),
        ),
      ),
    );
  });
}

function chosen(wanted: readonly string[], usual: readonly string[]): string[] {
  return [...new Set(wanted.length === 0 ? usual : wanted)].toSorted();
}

function profilesRequested(section: SuiteSection, wanted: readonly string[]): string[] {
  const all = profilesOf(section);
  if (all[0] === "") return all;
  return wanted.length === 0
    ? all.filter((name) => section.profiles[name]?.default)
    : all.filter((name) => wanted.includes(name));
}

function jobsOfSets(
  suite: Suite,
  section: Section,
  slice: Omit<JobSlice, "section" | "set">,
): PlannedJob[] {
  const optional = suite.targets[slice.target]?.optional ?? false;
  return [...benchmarksBySet(suite[section], section)]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([set, names]) => {
      const wanted = names.filter((name) => slice.benchmarks.includes(name)).toSorted();
      if (slice.benchmarks.length > 0 && wanted.length === 0) return [];
      // A whole set is written in only one way, so that equal work looks equal.
      const benchmarks = wanted.length === names.length ? [] : wanted;
      const job = { ...slice, section, set, benchmarks, optional };
      return planCases(suite, job).length === 0 ? [] : [job];
    });
}

function benchmarksBySet(
  section: SuiteSection | undefined,
  name: Section,
): Map<number, readonly string[]> {
  const sets = new Map<number, string[]>();
  for (const [benchmark, defined] of Object.entries(section?.benchmarks ?? {})) {
    const set = setOf(name, defined);
    sets.set(set, [...(sets.get(set) ?? []), benchmark]);
  }
  return sets;
}
