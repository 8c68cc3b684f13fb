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

/** Makes a share link to the log of a run, or to one of its outputs. */
export async function shareRun(
  graph: string,
  job: string,
  run: number,
  body: { readonly path?: string; readonly expiresInMs: number },
) {
  // Most who open a job share nothing.
  const { shareEndpoints } = await import("#api/endpoints/share-endpoints.ts");
  return call(shareEndpoints.shareRun, { params: { graph, job, run: String(run) }, body });
}
