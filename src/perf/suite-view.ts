import type { SuiteView } from "#api/benchmark-history.ts";
import type { Section } from "#core/test-case.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { setOf } from "#suites/plan-cases.ts";
import type { StoredSuite } from "./suites.store.ts";

const sections: readonly Section[] = ["compile", "runtime", "toolchain"];

/** Returns a suite for pages: with the names for selection lists. */
export function suiteView(
  { name, digest, definition, changedBy, changedAt }: StoredSuite,
  counts: { readonly artifacts: number; readonly measured: number } | undefined,
): SuiteView {
  const defined = sections.flatMap((section) => {
    const body = definition[section];
    return body === undefined ? [] : [{ section, body }];
  });
  return {
    name,
    description: definition.description,
    digest,
    changedBy,
    changedAt: changedAt.toISOString(),
    metrics: metricsOf(definition),
    headline: definition.headline,
    backends: Object.keys(definition.backends).toSorted(),
    targets: Object.keys(definition.targets).toSorted(),
    sections: defined.map(({ section }) => section),
    benchmarks: defined.flatMap(({ section, body }) =>
      Object.entries(body.benchmarks)
        .map(([benchmark, each]) => ({ section, name: benchmark, set: setOf(section, each) }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ),
    profiles: names(defined.flatMap(({ body }) => Object.keys(body.profiles))),
    scenarios: names(defined.flatMap(({ body }) => Object.keys(body.scenarios))),
    artifacts: counts?.artifacts ?? 0,
    measured: counts?.measured ?? 0,
  };
}

function names(all: readonly string[]): string[] {
  return [...new Set(all)].toSorted();
}
