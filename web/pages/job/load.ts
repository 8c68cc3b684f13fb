import { queryOptions, replaceEqualDeep, useQueryClient } from "@tanstack/react-query";
import { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import { GraphDelta, GraphSummary } from "#api/graph.ts";
import type { JobPage } from "#api/job-page.ts";
import { apiBase, call } from "../../farm/ask.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { isOld, keepNewer, mergeJobPage } from "./merge-job-page.ts";

const graphPath = (graph: string) => `/graphs/${encodeURIComponent(graph)}`;

const jobPath = (graph: string, job: string) =>
  `${graphPath(graph)}/jobs/${encodeURIComponent(job)}`;

export const jobPageQuery = (graph: string, job: string) =>
  queryOptions({
    queryKey: ["job", graph, job],
    queryFn: ({ signal }) => call(jobEndpoints.jobPage, { params: { graph, job } }, signal),
    structuralSharing: (known, fresh) =>
      isJobPage(known) && isJobPage(fresh)
        ? replaceEqualDeep(known, keepNewer(known, fresh))
        : fresh,
  });

const isJobPage = (value: unknown): value is JobPage =>
  typeof value === "object" && value !== null && "neighbours" in value;

/**
 * Keeps the page of a job up to date while it is shown.
 *
 * The graph's stream reports changes of all its jobs: those of the neighbours are taken from it, those of the job are
 * requested. An ended graph sends nothing; when a job of it runs again, the repository's stream reports this.
 */
export function useLiveJob(page: JobPage): void {
  const client = useQueryClient();
  const { graph, job } = page.detail;
  const query = jobPageQuery(graph.id, job.name);
  const known = () => client.getQueryData(query.queryKey) ?? page;
  const readAgain = () => void client.invalidateQueries(query);
  const isRunning = graph.state === "running";

  // Another job's page was loaded at another version: it has a stream of its own.
  const ofJob = `${graph.id} ${job.name}`;

  useEventStream(isRunning ? `graph ${ofJob}` : undefined, {
    url: () => `${apiBase}${graphPath(graph.id)}/events?since=${known().detail.graph.version}`,
    isOver: () => known().detail.graph.state !== "running",
    onEvent: (data) => {
      const delta = GraphDelta.parse(JSON.parse(data));
      const before = known();
      client.setQueryData(query.queryKey, mergeJobPage(before, delta));
      if (isOld(before, delta)) readAgain();
    },
  });
  useEventStream(isRunning ? undefined : `events ${ofJob}`, {
    url: () => `${apiBase}/events?repository=${encodeURIComponent(graph.repository)}`,
    onEvent: (data) => {
      const heard = GraphSummary.parse(JSON.parse(data));
      if (heard.id === graph.id && heard.version > known().detail.graph.version) readAgain();
    },
    onReconnected: readAgain,
  });
}

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
