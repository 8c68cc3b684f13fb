import { queryOptions } from "@tanstack/react-query";
import { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import { apiBase, call } from "../../farm/ask.ts";

const jobPath = (graph: string, job: string) =>
  `/graphs/${encodeURIComponent(graph)}/jobs/${encodeURIComponent(job)}`;

export const jobQuery = (graph: string, job: string) =>
  queryOptions({
    queryKey: ["job", graph, job],
    queryFn: ({ signal }) => call(jobEndpoints.job, { params: { graph, job } }, signal),
  });

export const runUrl = (graph: string, job: string, run: number) =>
  `${apiBase}${jobPath(graph, job)}/runs/${run}`;

/** Each part of the path is encoded separately: the slashes between them stay. */
export const outputUrl = (graph: string, job: string, run: number, path: string) =>
  `${runUrl(graph, job, run)}/outputs/${path.split("/").map(encodeURIComponent).join("/")}`;
