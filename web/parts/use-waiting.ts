import { queryOptions, useQuery } from "@tanstack/react-query";
import { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import type { JobSummary } from "#api/graph.ts";
import type { WaitingReason } from "#api/waiting.ts";
import { call } from "../farm/ask.ts";

/** Others in the queue move without the graph's stream saying so. */
const refetchMs = 5_000;

const waitingQuery = (graph: string, job: JobSummary) =>
  queryOptions({
    queryKey: ["waiting", graph, job.name, job.version],
    queryFn: ({ signal }) =>
      call(jobEndpoints.jobWaiting, { params: { graph, job: job.name } }, signal),
    enabled: isWaiting(job),
    refetchInterval: refetchMs,
  });

function isWaiting({ state }: JobSummary): boolean {
  return state === "blocked" || state === "waiting" || state === "ready" || state === "queued";
}

/** Why a job does not run; null when it does, is over, or the farm has not said it yet. */
export function useWaiting(graph: string, job: JobSummary): WaitingReason | null {
  const { data } = useQuery(waitingQuery(graph, job));
  return isWaiting(job) ? (data?.waiting ?? null) : null;
}
