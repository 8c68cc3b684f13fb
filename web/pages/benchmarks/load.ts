import { queryOptions } from "@tanstack/react-query";
import type { RequestSummary, SubmitBenchmarkRequest } from "#api/benchmark-request.ts";
import type { ChangeCollector } from "#api/collector.ts";
import { benchmarkCollectorEndpoints } from "#api/endpoints/benchmark-collector-endpoints.ts";
import { benchmarkRequestEndpoints } from "#api/endpoints/benchmark-request-endpoints.ts";
import { benchmarkSuiteEndpoints } from "#api/endpoints/benchmark-suite-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** Jobs take minutes: the page refreshes this often while one is running, and less often otherwise. */
const busyMs = 5_000;
const idleMs = 20_000;

export const statusQuery = queryOptions({
  queryKey: ["benchmark-status"],
  queryFn: ({ signal }) => call(benchmarkRequestEndpoints.benchmarkStatus, {}, signal),
  refetchInterval: ({ state: { data } }) =>
    data?.collectors.some(({ job }) => job !== null) || (data?.queue.length ?? 0) > 0
      ? busyMs
      : idleMs,
});

/** Suites change when a user pushes one: one request per visit is enough. */
export const suitesQuery = queryOptions({
  queryKey: ["benchmark-suites"],
  queryFn: ({ signal }) => call(benchmarkSuiteEndpoints.benchmarkSuites, {}, signal),
  staleTime: 60_000,
});

/** The artifacts of a suite, the newest first, for selection lists. */
export const artifactsQuery = (suite: string) =>
  queryOptions({
    queryKey: ["benchmark-artifacts", suite],
    queryFn: ({ signal }) =>
      call(benchmarkSuiteEndpoints.benchmarkArtifacts, { query: { suite, limit: 100 } }, signal),
    enabled: suite !== "",
    staleTime: 30_000,
  });

export function isEnded(state: RequestSummary["state"]): boolean {
  return state === "completed" || state === "failed" || state === "cancelled";
}

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ["benchmark-request", id],
    queryFn: ({ signal }) =>
      call(benchmarkRequestEndpoints.benchmarkRequest, { params: { request: id } }, signal),
    // Optional jobs continue after the rest has ended.
    refetchInterval: ({ state: { data } }) =>
      data === undefined || (isEnded(data.state) && data.jobList.every(({ endedAt }) => endedAt))
        ? false
        : busyMs,
  });

export const reportQuery = (id: string) =>
  queryOptions({
    queryKey: ["benchmark-report", id],
    queryFn: ({ signal }) =>
      call(benchmarkRequestEndpoints.benchmarkReport, { params: { request: id } }, signal),
    // This data never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });

export const collectorsQuery = queryOptions({
  queryKey: ["benchmark-collectors"],
  queryFn: ({ signal }) => call(benchmarkCollectorEndpoints.benchmarkCollectors, {}, signal),
  refetchInterval: busyMs,
});

export const submitRequest = (asked: SubmitBenchmarkRequest) =>
  call(benchmarkRequestEndpoints.submitBenchmarkRequest, { body: asked });

export type RequestCommand = "cancel" | "retry" | "artifacts-ready";
export async function changeRequest(id: string, action: RequestCommand): Promise<void> {
  const params = { request: id };
  switch (action) {
    case "cancel":
      await call(benchmarkRequestEndpoints.cancelBenchmarkRequest, { params });
      return;
    case "retry":
      await call(benchmarkRequestEndpoints.retryBenchmarkRequest, { params });
      return;
    case "artifacts-ready":
      await call(benchmarkRequestEndpoints.benchmarkArtifactsReady, { params, body: {} });
      return;
  }
}

export const changeCollector = (name: string, change: ChangeCollector) =>
  call(benchmarkCollectorEndpoints.changeBenchmarkCollector, { params: { name }, body: change });
