import { z } from "zod";
import { rightOnFarm } from "#core/right.ts";
import { SuiteWord } from "#core/test-case.ts";
import { Report } from "../benchmark-comparison.ts";
import { BenchmarkStatus } from "../benchmark-history.ts";
import {
  ArtifactsReady,
  KeptTarball,
  RequestDetail,
  RequestState,
  Requests,
  SubmitBenchmarkRequest,
  SubmittedRequest,
} from "../benchmark-request.ts";
import { createdWhenNew, endpoint, json } from "../endpoint.ts";

const tarballName = { error: "name a tarball by its SHA-256 and size: HASH/SIZE" };

/** Requests to measure artifacts. A request is named by its id, a unique beginning of it, or `latest`. */
export const benchmarkRequestEndpoints = {
  benchmarkStatus: endpoint({
    method: "GET",
    path: "/benchmarks/status",
    right: rightOnFarm("read"),
    summary:
      "The queue with estimates, recently ended requests, collectors, and alarms with advice.",
    answer: json(BenchmarkStatus),
  }),
  benchmarkRequests: endpoint({
    method: "GET",
    path: "/benchmarks/requests",
    right: rightOnFarm("read"),
    summary:
      "Requests, newest first. `before` is the `next` of the previous page; `limit` defaults to 50, at most 1,000.",
    query: z.object({
      suite: SuiteWord.optional(),
      state: RequestState.optional(),
      before: z.uuid().optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(50),
    }),
    answer: json(Requests),
  }),
  submitBenchmarkRequest: endpoint({
    method: "POST",
    path: "/benchmarks/requests",
    right: rightOnFarm("benchmark"),
    summary:
      "Requests the measurement of an artifact. 200 if the artifact has an unfinished request: missing parts are `added` to it, or the answer is `nothing-missing`. The server first looks for an unknown tag at the source of the suite.",
    body: SubmitBenchmarkRequest,
    limit: "submissions",
    answer: createdWhenNew(SubmittedRequest),
  }),
  benchmarkRequest: endpoint({
    method: "GET",
    path: "/benchmarks/requests/:request",
    right: rightOnFarm("read"),
    summary:
      "A request by its id, a unique prefix of it, or `latest`: its jobs with usual durations, errors, its place in the queue and the reason, and its expected end. `unserved` are jobs that no active collector may take.",
    answer: json(RequestDetail),
  }),
  cancelBenchmarkRequest: endpoint({
    method: "POST",
    path: "/benchmarks/requests/:request/cancel",
    right: rightOnFarm("benchmark"),
    summary: "Cancels it and its jobs, except jobs that other requests also wait for.",
    answer: json(RequestDetail),
  }),
  retryBenchmarkRequest: endpoint({
    method: "POST",
    path: "/benchmarks/requests/:request/retry",
    right: rightOnFarm("benchmark"),
    summary: "Creates a new request for the parts that an ended request did not measure.",
    answer: createdWhenNew(SubmittedRequest),
  }),
  benchmarkArtifactsReady: endpoint({
    method: "POST",
    path: "/benchmarks/requests/:request/artifacts-ready",
    right: rightOnFarm("benchmark"),
    summary:
      "Marks the artifact of the request as ready; for an unknown artifact, `tarballs` gives its files.",
    body: ArtifactsReady,
    answer: json(RequestDetail),
  }),
  keepBenchmarkTarball: endpoint({
    method: "PUT",
    path: "/benchmarks/tarballs/:hash/:size",
    right: rightOnFarm("benchmark"),
    summary: "Stores a tarball, named by SHA-256 and size, for `tarballs` of a request.",
    params: z.object({
      hash: z.string().regex(/^[0-9a-f]{64}$/, tarballName),
      size: z.string().regex(/^\d{1,15}$/, tarballName),
    }),
    body: { contentType: "application/octet-stream" },
    limit: "uploads",
    answer: json(KeptTarball),
  }),
  benchmarkReport: endpoint({
    method: "GET",
    path: "/benchmarks/requests/:request/report",
    right: rightOnFarm("read"),
    summary:
      "The comparison of its artifact with the parent, made when the request ended. `latest` is the request that ended last; with `suite`, the last one of that suite.",
    query: z.object({ suite: z.string().optional() }),
    answer: json(Report),
  }),
} as const;
