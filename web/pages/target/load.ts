import { queryOptions } from "@tanstack/react-query";
import { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { TargetSearch } from "./search.ts";

const mostBuilds = 100;

export const targetHistoryQuery = ({ label = "", project = "default" }: TargetSearch) =>
  queryOptions({
    queryKey: ["target-history", project, label],
    queryFn: ({ signal }) =>
      label === ""
        ? { label, builds: [] }
        : call(
            invocationEndpoints.targetHistory,
            { query: { project, label, limit: mostBuilds } },
            signal,
          ),
  });
