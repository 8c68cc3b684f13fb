import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { pathOfCall } from "#api/endpoint.ts";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import type { InvocationActionState, InvocationDetail } from "#api/invocation.ts";
import { apiBase, call } from "../../farm/ask.ts";

export interface InvocationAddress {
  readonly id: string;
  readonly project: string;
}

/** No stream reports an invocation: while it runs, it is requested this often. */
const refetchMs = 2_000;
const quietRefetchMs = 15_000;

/** The common parameters of all calls about an invocation. */
export const invocationInput = ({ id, project }: InvocationAddress) => ({
  params: { invocation: id },
  query: { project },
});

export const invocationLogUrl = ({ id, project }: InvocationAddress) =>
  apiBase + pathOfCall(invocationEndpoints.invocationLog, { invocation: id }, { project });

export const invocationQuery = (address: InvocationAddress) =>
  queryOptions({
    queryKey: ["invocation", address.project, address.id],
    queryFn: ({ signal }) => call(invocationEndpoints.invocation, invocationInput(address), signal),
    refetchInterval: ({ state }) => refetchMsOf(state.data),
  });

/** An invocation without recent calls may continue; only one with a reported end is final. */
function refetchMsOf(detail: InvocationDetail | undefined): number | false {
  if (detail === undefined || detail.state === "running") return refetchMs;
  return detail.state === "silent" || detail.state === "over" ? quietRefetchMs : false;
}

export const timingQuery = (address: InvocationAddress) =>
  queryOptions({
    queryKey: ["invocation", address.project, address.id, "timing"],
    queryFn: ({ signal }) =>
      call(invocationEndpoints.invocationTiming, invocationInput(address), signal),
  });

export const traceUrl = ({ id, project }: InvocationAddress) =>
  apiBase + pathOfCall(invocationEndpoints.invocationTrace, { invocation: id }, { project });

export const missesQuery = ({ id, project }: InvocationAddress) =>
  infiniteQueryOptions({
    queryKey: ["invocation", project, id, "misses"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call(
        invocationEndpoints.invocationMisses,
        { params: { invocation: id }, query: { project, limit: 20, after: pageParam } },
        signal,
      ),
    getNextPageParam: (last) => last.next ?? undefined,
  });

/** Targets change with the counts of the build, which are requested more often. */
const targetsRefetchMs = 5_000;
const targetsPerPage = 200;

export const targetsQuery = ({ id, project, state }: InvocationDetail, text: string) =>
  infiniteQueryOptions({
    queryKey: ["invocation", project, id, "targets", text],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = {
        project,
        limit: targetsPerPage,
        text: text === "" ? undefined : text,
        after: pageParam,
      };
      const params = { invocation: id };
      return call(invocationEndpoints.invocationTargets, { params, query }, signal);
    },
    getNextPageParam: (last) => last.next ?? undefined,
    refetchInterval: state === "running" ? targetsRefetchMs : false,
    // The last list stays until the next one arrives, because a page that jumps is hard to read.
    placeholderData: keepPreviousData,
  });

export const testsQuery = ({ id, project }: InvocationAddress, label: string) =>
  queryOptions({
    queryKey: ["invocation", project, id, "tests", label],
    queryFn: ({ signal }) =>
      call(
        invocationEndpoints.invocationTests,
        { params: { invocation: id }, query: { project, label } },
        signal,
      ),
  });

const actionsPerPage = 500;

export const actionsQuery = (
  address: InvocationAddress,
  filter: {
    readonly state: InvocationActionState | undefined;
    readonly text: string;
    /** Leaves out what was answered from the cache. */
    readonly isFolded?: boolean;
  },
) =>
  infiniteQueryOptions({
    queryKey: [
      "invocation",
      address.project,
      address.id,
      "actions",
      filter.state ?? "",
      filter.isFolded === true ? "folded" : "",
      filter.text,
    ],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = {
        project: address.project,
        limit: actionsPerPage,
        state: filter.state,
        hits: filter.isFolded === true ? ("folded" as const) : ("shown" as const),
        text: filter.text === "" ? undefined : filter.text,
        after: pageParam,
      };
      const params = { invocation: address.id };
      return call(invocationEndpoints.invocationActions, { params, query }, signal);
    },
    getNextPageParam: (last) => last.next ?? undefined,
    // The last list stays until the next one arrives, because a page that jumps is hard to read.
    placeholderData: keepPreviousData,
  });

/** The graphs of a commit, if the farm has its repository. */
export const graphsOfCommitQuery = (repository: string | null, commit: string | null) =>
  queryOptions({
    queryKey: ["graphs-of-commit", repository, commit],
    queryFn: ({ signal }) =>
      call(
        graphEndpoints.graphs,
        { query: { repository: repository ?? "", commit: commit ?? "" } },
        signal,
      ),
    enabled: repository !== null && commit !== null,
  });
