import { Hono } from "hono";
import { z } from "zod";
import { SayOfChangePoint } from "#api/benchmark-history.ts";
import { ArtifactTag } from "#api/benchmark-request.ts";
import { Fault } from "#core/fault.ts";
import { caseOfKey, SuiteWord, type TestCase } from "#core/test-case.ts";
import type { BenchmarkHistoryFarm } from "./benchmark-history-farm.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import { queryOf } from "./query.ts";

const Kind = z.enum(["master", "release"]).default("master");
const MetricName = z.string().max(40).optional();
/** Several with commas between them; none: all. */
const Words = z
  .string()
  .max(4_000)
  .default("")
  .transform((text) => text.split(",").filter((word) => word !== ""));

const CompareQuery = z.object({
  suite: SuiteWord,
  before: ArtifactTag.optional(),
  after: ArtifactTag.optional(),
  metric: MetricName,
});

const GraphsQuery = z.object({
  suite: SuiteWord,
  metric: MetricName,
  kind: Kind,
  section: Words,
  benchmark: Words,
  profile: Words,
  scenario: Words,
  backend: Words,
  target: Words,
  from: z.string().max(120).optional(),
  to: z.string().max(120).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(60),
});

const SeriesOf = z.object({
  suite: SuiteWord,
  case: z.string().max(600),
  metric: MetricName,
  kind: Kind,
  samples: z.enum(["true", "false"]).default("false"),
});

const NoiseOf = z.object({ suite: SuiteWord, case: z.string().max(600) });

const StepsOf = z.object({
  suite: SuiteWord,
  since: z.iso.datetime().or(z.iso.date()),
  standing: z.enum(["found", "accepted", "dismissed", "all"]).default("found"),
  limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
});

/** Comparisons and histories of benchmarks. */
export function benchmarkHistoryRoutes(farm: BenchmarkHistoryFarm): Hono {
  const routes = new Hono();

  routes.get("/benchmarks/compare", async (c) => {
    const query = queryOf(c, CompareQuery);
    const known = /^(?:W\/)?"([0-9a-f]{64})"$/.exec(c.req.header("if-none-match") ?? "")?.[1];
    const { key, comparison } = await farm.benchmarkComparison(query, known);
    c.header("etag", `"${key}"`);
    // Kept by whoever asks, and asked about each time: what it rests on may have grown.
    c.header("cache-control", "private, no-cache");
    return comparison === undefined ? c.body(null, 304) : c.json(comparison);
  });

  routes.get("/benchmarks/graphs", async (c) => {
    const { suite, metric, kind, from, to, limit, ...filter } = queryOf(c, GraphsQuery);
    return c.json(await farm.benchmarkGraphs({ suite, metric, kind, from, to, limit, filter }));
  });

  routes.get("/benchmarks/series", async (c) => {
    const query = queryOf(c, SeriesOf);
    const { suite, metric, kind } = query;
    const samples = query.samples === "true";
    const testCase = caseNamed(query.case);
    return c.json(await farm.benchmarkSeries({ suite, case: testCase, metric, kind, samples }));
  });

  routes.get("/benchmarks/noise", async (c) => {
    const query = queryOf(c, NoiseOf);
    return c.json(await farm.benchmarkNoise({ suite: query.suite, case: caseNamed(query.case) }));
  });

  routes.get("/benchmarks/change-points", async (c) => {
    const { suite, since, standing, limit } = queryOf(c, StepsOf);
    return c.json(
      await farm.benchmarkSteps({
        suite,
        since: new Date(since),
        standings: standing === "all" ? ["found", "accepted", "dismissed"] : [standing],
        most: limit,
      }),
    );
  });
  routes.post("/benchmarks/change-points", async (c) =>
    c.json(await farm.sayOfBenchmarkStep(await jsonBody(c, SayOfChangePoint), principalOf(c))),
  );

  return routes;
}

/** Throws `Fault("invalid_argument")` where a text names no case. */
function caseNamed(key: string): TestCase {
  const testCase = caseOfKey(key);
  if (testCase === undefined) {
    throw new Fault(
      "invalid_argument",
      `"${key}" names no case: section benchmark profile scenario backend target, with - where there is none`,
    );
  }
  return testCase;
}
