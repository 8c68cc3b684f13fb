import { z } from "zod";
import { rightOnFarm } from "#core/right.ts";
import { SuiteWord } from "#core/test-case.ts";
import { Comparison } from "../benchmark-comparison.ts";
import {
  ChangePointStatement,
  ChangePointView,
  Series,
  SeriesGrid,
  Steps,
} from "../benchmark-history.ts";
import { CaseNoise } from "../benchmark-noise.ts";
import { ArtifactTag } from "../benchmark-request.ts";
import { endpoint, json } from "../endpoint.ts";

const Kind = z.enum(["master", "release"]).default("master");
const MetricName = z.string().max(40).optional();
const CaseKey = z.string().max(600);
/** Several are separated by commas; empty: all. */
const Words = z.string().max(4_000).default("");

/** Comparisons and histories of benchmarks. */
export const benchmarkHistoryEndpoints = {
  compareBenchmarks: endpoint({
    method: "GET",
    path: "/benchmarks/compare",
    right: rightOnFarm("read"),
    summary:
      "Two artifacts compared: the cases of one metric (default: the headline), and summaries of all. Without `after` the newest measured artifact of the main line, without `before` what that follows. Its `ETag` names what it is computed from; 304 to `If-None-Match`.",
    query: z.object({
      suite: SuiteWord,
      before: ArtifactTag.optional(),
      after: ArtifactTag.optional(),
      metric: MetricName,
    }),
    limit: "searches",
    answer: json(Comparison),
  }),
  benchmarkSeries: endpoint({
    method: "GET",
    path: "/benchmarks/series",
    right: rightOnFarm("read"),
    mayLag: true,
    summary:
      "A case (six words, `-` for none) along the main line, or with `kind=release` along the releases, with its steps. `samples=true` adds all values of each point.",
    query: z.object({
      suite: SuiteWord,
      case: CaseKey,
      metric: MetricName,
      kind: Kind,
      samples: z.enum(["true", "false"]).default("false"),
    }),
    answer: json(Series),
  }),
  benchmarkNoise: endpoint({
    method: "GET",
    path: "/benchmarks/noise",
    right: rightOnFarm("read"),
    mayLag: true,
    summary:
      "How much each metric of a case varies without a change, by kind of machine: runs, self-tests, fence, and the limit learned from them.",
    query: z.object({ suite: SuiteWord, case: CaseKey }),
    answer: json(CaseNoise),
  }),
  benchmarkGraphs: endpoint({
    method: "GET",
    path: "/benchmarks/graphs",
    right: rightOnFarm("read"),
    mayLag: true,
    summary:
      "Many series beside each other: `limit` is 60 cases, at most 500. `section`, `benchmark`, `profile`, `scenario`, `backend` and `target` are each several words with commas between them. `from` and `to` are artifacts or dates; without `from` the last 180 measured artifacts, else at most 1,000. Each series has its `steps` on its own machine, except dismissed ones.",
    query: z.object({
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
    }),
    answer: json(SeriesGrid),
  }),
  benchmarkChangePoints: endpoint({
    method: "GET",
    path: "/benchmarks/change-points",
    right: rightOnFarm("read"),
    mayLag: true,
    summary:
      "Steps of all series since a date or time, by artifact, newest first. `standing` is `found`; `accepted`, `dismissed` or `all`. `limit` is 1,000, at most 5,000.",
    query: z.object({
      suite: SuiteWord,
      since: z.iso.datetime().or(z.iso.date()),
      standing: z.enum(["found", "accepted", "dismissed", "all"]).default("found"),
      limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
    }),
    answer: json(Steps),
  }),
  judgeBenchmarkChangePoint: endpoint({
    method: "POST",
    path: "/benchmarks/change-points",
    right: rightOnFarm("benchmark"),
    summary: "Accepts or dismisses a step, or undoes that.",
    body: ChangePointStatement,
    answer: json(ChangePointView),
  }),
} as const;
