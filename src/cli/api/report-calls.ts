import { ReportedRun, type ReportRun } from "#api/report.ts";
import type { ApiClient } from "./api-client.ts";

/** Tells the farm of a run that another machine serves. */
export function reportRun(
  api: ApiClient,
  graph: string,
  job: string,
  report: ReportRun,
): Promise<ReportedRun> {
  const path = `/graphs/${encodeURIComponent(graph)}/jobs/${encodeURIComponent(job)}/report`;
  return api.post(ReportedRun, path, report);
}
