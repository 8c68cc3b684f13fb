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

const tarballName = { error: "a tarball is named by its SHA-256 and size: HASH/SIZE" };

/** Requests to measure artifacts. A request is named by its id, a unique beginning of it, or `latest`. */
export const benchmarkRequestEndpoints = {
  benchmarkStatus: endpoint({
    method: "GET",
    path: "/benchmarks/status",
    right: rightOnFarm("read"),
    summary:
      "The queue with estimates, what ended lately, collectors, and alarms with what to do about them.",
    answer: json(BenchmarkStatus),
  }),
  benchmarkRequests: endpoint({
    method: "GET",
    path: "/benchmarks/requests",
    right: rightOnFarm("read"),
    summary:
      "Requests, newest first. `before` is the `next` of the page before; `limit` is 50, at most 1,000.",
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
      "Asks for an artifact to be measured. 200 when the artifact has a request that has not ended, to which what is missing was `added`, or `nothing-missing`. A tag that nobody knows is looked for at the suite's source first.",
    body: SubmitBenchmarkRequest,
    limit: "submissions",
    answer: createdWhenNew(SubmittedRequest),
  }),
  benchmarkRequest: endpoint({
    method: "GET",
    path: "/benchmarks/requests/:request",
    right: rightOnFarm("read"),
    summary:
      "A request by its id, a unique beginning of it, or `latest`: its jobs with what they usually take, errors, its place in the queue and why, when it should end. `unserved` are jobs that no active collector may take.",
    answer: json(RequestDetail),
  }),
  cancelBenchmarkRequest: endpoint({
    method: "POST",
    path: "/benchmarks/requests/:request/cancel",
    right: rightOnFarm("benchmark"),
    summary: "Ends it with its jobs, except those that other requests wait for, too.",
    answer: json(RequestDetail),
  }),
  retryBenchmarkRequest: endpoint({
    method: "POST",
    path: "/benchmarks/requests/:request/retry",
    right: rightOnFarm("benchmark"),
    summary: "A new request for what an ended one did not get.",
    answer: createdWhenNew(SubmittedRequest),
  }),
  benchmarkArtifactsReady: endpoint({
    method: "POST",
    path: "/benchmarks/requests/:request/artifacts-ready",
    right: rightOnFarm("benchmark"),
    summary:
      "States that the artifact that the request waits for is there; of one that nobody knows yet, `tarballs` states where.",
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
      "Its artifact compared with its parent when it ended. `latest` is the request that ended last, with `suite` of that suite.",
    query: z.object({ suite: z.string().optional() }),
    answer: json(Report),
  }),
} as const;
