import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { granaryEndpoints } from "#api/endpoints/granary-endpoints.ts";
import { serverEndpoints } from "#api/endpoints/server-endpoints.ts";
import type { ReleaseResult } from "#api/granary.ts";
import { call } from "../../farm/ask.ts";

/** No stream reports builds; while the page is visible, it refreshes this often. */
const refetchMs = 5_000;
const buildsAtOnce = 50;
/** A month. */
const days = 30;

export const savingsQuery = (project: string | undefined) =>
  queryOptions({
    queryKey: ["granary-savings", project ?? ""],
    queryFn: ({ signal }) =>
      call(granaryEndpoints.granarySavings, { query: { project, days } }, signal),
    refetchInterval: refetchMs,
  });

/** Builds, the newest first, page by page. */
export const buildsQuery = (of: {
  readonly project?: string | undefined;
  readonly commit?: string | undefined;
}) =>
  infiniteQueryOptions({
    queryKey: ["granary-builds", of.project ?? "", of.commit ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const { project, commit } = of;
      const query = { project, commit, limit: buildsAtOnce, after: pageParam };
      return call(granaryEndpoints.granaryBuilds, { query }, signal);
    },
    getNextPageParam: (last) => last.next ?? undefined,
    // When older pages are loaded, the user is searching, and a refresh would load all of them again.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : refetchMs),
  });

/** A reported build does not change. */
export const buildQuery = (id: string) =>
  queryOptions({
    queryKey: ["granary-build", id],
    queryFn: ({ signal }) => call(granaryEndpoints.granaryBuild, { params: { build: id } }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const indexesQuery = (project: string | undefined) =>
  queryOptions({
    queryKey: ["granary-indexes", project ?? ""],
    queryFn: ({ signal }) =>
      call(granaryEndpoints.commitIndexes, { query: { project, limit: 200 } }, signal),
    refetchInterval: refetchMs,
  });

export interface IndexAddress {
  readonly project?: string | undefined;
  readonly repository?: string | undefined;
  readonly commit: string;
  readonly environment?: string | undefined;
}

export const indexQuery = (of: IndexAddress) =>
  infiniteQueryOptions({
    queryKey: [
      "granary-index",
      of.project ?? "",
      of.repository ?? "",
      of.commit,
      of.environment ?? "",
    ],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      call(granaryEndpoints.commitIndex, { query: { ...of, from: pageParam } }, signal),
    getNextPageParam: (last) => last.next ?? undefined,
  });

export const quarantineQuery = (project: string | undefined) =>
  queryOptions({
    queryKey: ["granary-quarantine", project ?? ""],
    queryFn: ({ signal }) =>
      call(granaryEndpoints.granaryQuarantine, { query: { project } }, signal),
    refetchInterval: refetchMs,
  });

export const releaseResult = (which: ReleaseResult) =>
  call(granaryEndpoints.releaseGranaryResult, { body: which });

export const quarantineMadeFrom = (which: ReleaseResult) =>
  call(granaryEndpoints.quarantineMadeFrom, { body: which });

/** The size of the farm's own store; it is counted rarely, so it is requested rarely. */
export const storeQuery = queryOptions({
  queryKey: ["store"],
  queryFn: ({ signal }) => call(serverEndpoints.store, {}, signal),
  refetchInterval: 60_000,
});
