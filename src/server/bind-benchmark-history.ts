import { wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { caseKey } from "#core/test-case.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import { comparisonCache } from "#perf/history/comparison-cache.ts";
import { readGrid } from "#perf/history/read-grid.ts";
import { readNoise } from "#perf/history/read-noise.ts";
import { readSeries } from "#perf/history/read-series.ts";
import { readSteps } from "#perf/history/read-steps.ts";
import { sayOfStep } from "#perf/history/say-of-step.ts";
import type { BenchmarkHistoryFarm } from "./http/benchmark-history-farm.ts";
import type { Services } from "./services.ts";

/** Figures of benchmarks, for the HTTP API. What somebody says of a step leaves an entry in the audit. */
export function bindBenchmarkHistory({
  db,
  clock,
}: Pick<Services, "db" | "clock">): BenchmarkHistoryFarm {
  const cache = comparisonCache(db);
  return {
    benchmarkComparison: (query, known) => cache.get(query, known),
    benchmarkGraphs: (query) => db.transaction((tx) => readGrid(tx, query)),
    benchmarkSeries: (query) => db.transaction((tx) => readSeries(tx, query)),
    benchmarkNoise: (query) => db.transaction((tx) => readNoise(tx, query)),
    benchmarkSteps: (query) => db.transaction((tx) => readSteps(tx, query)),

    async sayOfBenchmarkStep(word, by) {
      requireGrant(by, "benchmark", wholeFarm);
      return db.transaction(async (tx) => {
        const said = await sayOfStep(tx, word, by.name, clock.now());
        const { suite, metric, fingerprint, artifact, standing, note } = word;
        await recordAudit(tx, {
          actor: by.name,
          verb: "benchmark",
          detail: {
            what: "say of a step",
            suite,
            case: caseKey(word.case),
            metric,
            fingerprint,
            artifact,
            standing,
          },
          reason: note ?? undefined,
        });
        return said;
      });
    },
  };
}
