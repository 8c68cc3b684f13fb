import type { Metric } from "#core/benchmark-metric.ts";
import { Fault } from "#core/fault.ts";
import { Suite } from "#suites/suite.ts";

/** Imports have no backends; one word represents any of them. */
export const importedBackend = "imported";

/**
 * Returns the definition of a suite with figures from other tools: it grows by the benchmarks, metrics and targets of
 * imports, and the farm measures nothing for it. Pure.
 */
export function suiteOfImports(
  name: string,
  known: Suite | undefined,
  brought: {
    readonly target: string;
    readonly metrics: readonly Metric[];
    readonly benchmarks: readonly string[];
  },
): Suite {
  if (known !== undefined && !isOfImports(known)) {
    throw new Fault(
      "failed_precondition",
      `the farm measures the suite "${name}" itself; import into another one, such as "${name}-imported"`,
    );
  }
  const [headline] = brought.metrics;
  if (headline === undefined || brought.benchmarks.length === 0) {
    throw new Fault("invalid_argument", "the output of the tool contains no results");
  }
  return Suite.parse({
    suite: name,
    description: known?.description ?? "Figures that other tools took.",
    artifacts: { from: "nowhere" },
    backends: { [importedBackend]: { default: false } },
    targets: { ...known?.targets, [brought.target]: {} },
    metrics: {
      ...Object.fromEntries(
        brought.metrics.map(({ name: metric, nature, unit, better, decides }) => [
          metric,
          // It is never measured here; the suite language requires a way of measuring.
          { take: { from: "wall-time" }, nature, unit, better, decides },
        ]),
      ),
      ...known?.metrics,
    },
    headline: known?.headline ?? headline.name,
    runtime: {
      command: ["true"],
      benchmarks: {
        ...Object.fromEntries(brought.benchmarks.map((benchmark) => [benchmark, {}])),
        ...known?.runtime?.benchmarks,
      },
    },
  });
}

function isOfImports({ backends }: Suite): boolean {
  return Object.keys(backends).join() === importedBackend;
}
