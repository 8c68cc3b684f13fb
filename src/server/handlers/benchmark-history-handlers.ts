import { recordAudit } from "#access/audit.store.ts";
import type { benchmarkHistoryEndpoints } from "#api/endpoints/benchmark-history-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { caseKey, caseOfKey, type TestCase } from "#core/test-case.ts";
import { comparisonCache } from "#perf/history/comparison-cache.ts";
import { readGrid } from "#perf/history/read-grid.ts";
import { readNoise } from "#perf/history/read-noise.ts";
import { readSeries } from "#perf/history/read-series.ts";
import { readSteps } from "#perf/history/read-steps.ts";
import { storeChangePointStatement } from "#perf/history/store-change-point-statement.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import type { HandlerServices } from "./handler-services.ts";

export function benchmarkHistoryHandlers({
  db,
  clock,
}: Pick<HandlerServices, "db" | "clock">): HandlersFor<typeof benchmarkHistoryEndpoints> {
  const cache = comparisonCache(db);

  return {
    async compareBenchmarks({ query, context }) {
      const condition = context.req.header("if-none-match") ?? "";
      const known = /^(?:W\/)?"([0-9a-f]{64})"$/.exec(condition)?.[1];
      const { key, comparison } = await cache.get(query, known);
      context.header("etag", `"${key}"`);
      // Clients cache it and revalidate each time, because new data may exist.
      context.header("cache-control", "private, no-cache");
      return comparison ?? context.body(null, 304);
    },

    benchmarkSeries: ({ query: { suite, metric, kind, ...query }, reads }) => {
      const of = { suite, case: caseNamed(query.case), metric, kind };
      return reads.transaction((tx) =>
        readSeries(tx, { ...of, samples: query.samples === "true" }),
      );
    },

    benchmarkNoise: ({ query, reads }) => {
      const of = { suite: query.suite, case: caseNamed(query.case) };
      return reads.transaction((tx) => readNoise(tx, of));
    },

    benchmarkGraphs({ query: { suite, metric, kind, from, to, limit, ...facets }, reads }) {
      const filter = {
        section: wordsIn(facets.section),
        benchmark: wordsIn(facets.benchmark),
        profile: wordsIn(facets.profile),
        scenario: wordsIn(facets.scenario),
        backend: wordsIn(facets.backend),
        target: wordsIn(facets.target),
      };
      return reads.transaction((tx) =>
        readGrid(tx, { suite, metric, kind, from, to, limit, filter }),
      );
    },

    benchmarkChangePoints: ({ query: { suite, since, standing, limit }, reads }) =>
      reads.transaction((tx) =>
        readSteps(tx, {
          suite,
          since: new Date(since),
          standings: standing === "all" ? ["found", "accepted", "dismissed"] : [standing],
          most: limit,
        }),
      ),

    judgeBenchmarkChangePoint: ({ body, caller }) =>
      db.transaction(async (tx) => {
        const judged = await storeChangePointStatement(tx, body, caller.name, clock.now());
        const { suite, metric, fingerprint, artifact, standing, note } = body;
        await recordAudit(tx, {
          actor: caller.name,
          verb: "benchmark",
          detail: {
            what: "say of a step",
            suite,
            case: caseKey(body.case),
            metric,
            fingerprint,
            artifact,
            standing,
          },
          reason: note ?? undefined,
        });
        return judged;
      }),
  };
}

function wordsIn(text: string): string[] {
  return text.split(",").filter((word) => word !== "");
}

/** Throws `Fault("invalid_argument")` for a text that names no test case. */
function caseNamed(key: string): TestCase {
  const testCase = caseOfKey(key);
  if (testCase === undefined) {
    throw new Fault(
      "invalid_argument",
      `"${key}" is not a test case: write section, benchmark, profile, scenario, backend and target, with - for a missing part`,
    );
  }
  return testCase;
}
