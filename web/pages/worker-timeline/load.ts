import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { defaultTimelineMinutes } from "#api/worker-timeline.ts";
import { call } from "../../farm/ask.ts";

export const timelineQuery = (minutes = defaultTimelineMinutes) =>
  queryOptions({
    queryKey: ["worker-timeline", minutes],
    queryFn: ({ signal }) => call(workerEndpoints.workerTimeline, { query: { minutes } }, signal),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
