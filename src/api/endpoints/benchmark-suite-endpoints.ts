import { z } from "zod";
import { rightOnFarm } from "#core/right.ts";
import { SuiteWord } from "#core/test-case.ts";
import {
  ImportedResults,
  ImportResults,
  PushedSuite,
  PushSuite,
  SetBalance,
  SuiteDetail,
  Suites,
} from "../benchmark-history.ts";
import { Artifacts, ArtifactTag, RequestKind } from "../benchmark-request.ts";
import { endpoint, json } from "../endpoint.ts";

/** Definitions of benchmark suites, and the artifacts that the suites measure. */
export const benchmarkSuiteEndpoints = {
  benchmarkSuites: endpoint({
    method: "GET",
    path: "/benchmarks/suites",
    right: rightOnFarm("read"),
    summary:
      "All suites with their benchmarks and metrics, and how many artifacts are known and measured.",
    answer: json(Suites),
  }),
  benchmarkSuite: endpoint({
    method: "GET",
    path: "/benchmarks/suites/:suite",
    right: rightOnFarm("read"),
    summary: "One suite, with its definition.",
    params: z.object({ suite: SuiteWord }),
    answer: json(SuiteDetail),
  }),
  pushBenchmarkSuite: endpoint({
    method: "PUT",
    path: "/benchmarks/suites/:suite",
    right: rightOnFarm("benchmark"),
    summary:
      "Stores a definition. 400 lists all errors in it. Requests in progress continue with the previous definition.",
    params: z.object({ suite: SuiteWord }),
    body: PushSuite,
    largeBody: { bytes: 4 * 1024 * 1024, verb: "benchmark" },
    answer: json(PushedSuite),
  }),
  benchmarkSetBalance: endpoint({
    method: "GET",
    path: "/benchmarks/sets/balance",
    right: rightOnFarm("read"),
    summary:
      "A distribution of benchmarks in which all sets take about the same time, computed from the times between reports of the last jobs.",
    query: z.object({
      suite: SuiteWord,
      target: SuiteWord,
      sets: z.coerce.number().int().min(1).max(100).optional(),
    }),
    answer: json(SetBalance),
  }),
  benchmarkArtifacts: endpoint({
    method: "GET",
    path: "/benchmarks/artifacts",
    right: rightOnFarm("read"),
    summary:
      "Artifacts of a suite, newest first, each with the state of its latest request. `before` is the tag of the last artifact of the previous page; `limit` defaults to 50, at most 1,000.",
    query: z.object({
      suite: SuiteWord,
      kind: RequestKind.optional(),
      before: ArtifactTag.optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(50),
    }),
    answer: json(Artifacts),
  }),
  importBenchmarks: endpoint({
    method: "POST",
    path: "/benchmarks/import",
    right: rightOnFarm("benchmark"),
    summary:
      "Imports the results of another benchmark tool for an artifact. Cases that already have results keep them. At most 32 MiB.",
    body: ImportResults,
    largeBody: { bytes: 32 * 1024 * 1024, verb: "benchmark" },
    answer: json(ImportedResults),
  }),
} as const;
