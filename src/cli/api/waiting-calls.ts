import { JobWaiting } from "#api/waiting.ts";
import type { ApiClient } from "./api-client.ts";

/** Why a job waits; the graph may be written as a unique beginning of its id, or `latest`. */
export function jobWaiting(api: ApiClient, graph: string, job: string): Promise<JobWaiting> {
  return api.get(
    JobWaiting,
    `/graphs/${encodeURIComponent(graph)}/jobs/${encodeURIComponent(job)}/waiting`,
  );
}
