import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { Report } from "#api/benchmark-comparison.ts";
import { BenchmarkStatus, Suites } from "#api/benchmark-history.ts";
import {
  Artifacts,
  RequestDetail,
  type RequestSummary,
  type SubmitBenchmarkRequest,
  SubmittedRequest,
} from "#api/benchmark-request.ts";
import { type ChangeCollector, Collectors } from "#api/collector.ts";
import { ask, tell } from "../../farm/ask.ts";

/** Jobs take minutes: while one is under way the page asks so often, and less when nothing is. */
const busyMs = 5_000;
const idleMs = 20_000;

export const statusQuery = queryOptions({
  queryKey: ["benchmark-status"],
  queryFn: ({ signal }) => ask(BenchmarkStatus, "/benchmarks/status", { signal }),
  refetchInterval: ({ state: { data } }) =>
    data?.collectors.some(({ job }) => job !== null) || (data?.queue.length ?? 0) > 0
      ? busyMs
      : idleMs,
});

/** Suites change when somebody pushes one: once for a visit is enough. */
export const suitesQuery = queryOptions({
  queryKey: ["benchmark-suites"],
  queryFn: ({ signal }) => ask(Suites, "/benchmarks/suites", { signal }),
  staleTime: 60_000,
});

/** Of a suite, the newest first: what lists to choose from are made of. */
export const artifactsQuery = (suite: string) =>
  queryOptions({
    queryKey: ["benchmark-artifacts", suite],
    queryFn: ({ signal }) =>
      ask(Artifacts, `/benchmarks/artifacts?${new URLSearchParams({ suite, limit: "100" })}`, {
        signal,
      }),
    enabled: suite !== "",
    staleTime: 30_000,
  });

export function isEnded(state: RequestSummary["state"]): boolean {
  return state === "completed" || state === "failed" || state === "cancelled";
}

const requestPath = (id: string) => `/benchmarks/requests/${encodeURIComponent(id)}`;

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ["benchmark-request", id],
    queryFn: ({ signal }) => ask(RequestDetail, requestPath(id), { signal }),
    // Optional jobs go on after the rest has ended.
    refetchInterval: ({ state: { data } }) =>
      data === undefined || (isEnded(data.state) && data.jobList.every(({ endedAt }) => endedAt))
        ? false
        : busyMs,
  });

export const reportQuery = (id: string) =>
  queryOptions({
    queryKey: ["benchmark-report", id],
    queryFn: ({ signal }) => ask(Report, `${requestPath(id)}/report`, { signal }),
    // Made once.
    staleTime: Number.POSITIVE_INFINITY,
  });

export const collectorsQuery = queryOptions({
  queryKey: ["benchmark-collectors"],
  queryFn: ({ signal }) => ask(Collectors, "/benchmarks/collectors", { signal }),
  refetchInterval: busyMs,
});

export const submitRequest = (asked: SubmitBenchmarkRequest) =>
  tell(SubmittedRequest, "/benchmarks/requests", asked);

export type RequestCommand = "cancel" | "retry" | "artifacts-ready";
export const changeRequest = (id: string, action: RequestCommand) =>
  tell(z.unknown(), `${requestPath(id)}/${action}`);

export const changeCollector = (name: string, change: ChangeCollector) =>
  tell(z.unknown(), `/benchmarks/collectors/${encodeURIComponent(name)}`, change);
