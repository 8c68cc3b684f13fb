import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** An hour, unless the address says otherwise. */
export const defaultMinutes = 60;

export const timelineQuery = (minutes = defaultMinutes) =>
  queryOptions({
    queryKey: ["worker-timeline", minutes],
    queryFn: ({ signal }) => call(workerEndpoints.workerTimeline, { query: { minutes } }, signal),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
